#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "text/chat/jinja/json_text_internal.h"
#include "text/chat/jinja/template_internal.h"

// Templates that want too much: each is refused by a count of steps or by a size, at once or within
// the budget. Without that they would run for minutes or for ever, or take gigabytes.

namespace rapt::jinja {
namespace {

// A tenth of the usual budget, so that the tests are quick.
constexpr std::uint64_t kFewSteps = 1'000'000;
constexpr const char* kTooManySteps = "error: line 1: the template takes more than 1000000 steps";
constexpr const char* kTextTooLarge = "error: line 1: a text grows beyond 16 MiB";

// Two lists in each other, sixty levels deep: more items than anybody can read.
constexpr const char* kDoubled =
    "{% set ns = namespace(x=[1], t=(1,), d={}) %}{% for i in range(60) %}"
    "{% set ns.x = [ns.x, ns.x] %}{% set ns.t = (ns.t, ns.t) %}{% set ns.d = {1: ns.d, 2: ns.d} %}"
    "{% endfor %}";

const RenderOptions kAllSteps = {};

std::string run(
    const std::string& source,
    const RenderOptions& options = {.date = "2025-01-01", .limits = {.max_steps = kFewSteps}}
) {
  const Result<Template> compiled = Template::compile(source);
  if (!compiled) {
    return "error: " + compiled.error().message;
  }
  const Result<MarkedText> text = compiled->render(Dict(), options);
  return text ? text->bytes() : "error: " + text.error().message;
}

std::string within(std::uint64_t max_steps, const std::string& source) {
  return run(source, {.limits = {.max_steps = max_steps}});
}

// The number of steps that a template takes.
std::uint64_t steps_of(const std::string& source) {
  std::uint64_t enough = 1;
  while (within(enough, source).starts_with("error: line 1: the template takes more than")) {
    enough *= 2;
  }
  std::uint64_t too_few = enough / 2;
  while (enough - too_few > 1) {
    const std::uint64_t middle = (enough + too_few) / 2;
    const bool is_enough =
        !within(middle, source).starts_with("error: line 1: the template takes more than");
    (is_enough ? enough : too_few) = middle;
  }
  return enough;
}

TEST(TemplateLimits, RefuseToReadListsThatAreInEachOther) {
  for (const char* use :
       {"{{ ns.x == [ns.x[0], ns.x[1]] }}",
        "{{ ns.x[0] in [[ns.x[1]], ns.x[1]] }}",
        "{{ ns.x != ns.x[:] }}",
        "{{ ns.x < ns.x[:] }}",
        "{{ ns.t <= ns.t[:] }}",
        "{{ ns.d == ns.d.copy() }}",
        "{{ ns.x|sort }}",
        "{{ [ns.t, ns.t[:]]|max }}",
        "{{ ns.t in {1: 2} }}",
        "{{ {ns.t: 1} }}",
        "{{ {1: 2}.get(ns.t) }}",
        "{{ {1: 2}[ns.t] }}",
        "{{ dict([[ns.t, 1]]) }}",
        "{{ ns.t|unique|list }}",
        "{{ ns.x|groupby(0) }}",
        "{{ ns.x.index(ns.x[0][:]) }}",
        "{{ ns.x.count(ns.x[0][:]) }}",
        "{{ ns.x is eq ns.x[:] }}",
        "{{ ns.x|map('equalto', ns.x[0][:])|list if false }}{{ ns.x|select('eq', ns.x[0])|list }}",
        "{% for i in [1, 2] %}{{ loop.changed(ns.x[:]) }}{% endfor %}"}) {
    EXPECT_EQ(run(std::string(kDoubled) + use), kTooManySteps) << use;
  }
  for (const char* use :
       {"{{ ns.x|string }}",
        "{{ ns.x|tojson }}",
        "{{ ns.d|tojson(separators=['', '']) }}",
        "{{ ns.x|join }}",
        "{{ ns.t ~ '' }}",
        "{{ ns.x|upper }}",
        "{{ '%s' % ns.x }}",
        "{{ '%.1s' % ns.x }}",
        "{{ '%r'|format(ns.x) }}",
        "{{ '{}'.format(ns.x) }}",
        "{{ '{!r:.1}'.format(ns.x) }}",
        "{{ ns.x|urlencode }}",
        "{{ ns.x is lower }}",
        "{{ raise_exception(ns.x) }}"}) {
    EXPECT_EQ(run(std::string(kDoubled) + use), kTextTooLarge) << use;
  }
  EXPECT_EQ(
      run(std::string(kDoubled) + "{{ ns.x }}"), "error: line 1: the output grows beyond 16 MiB"
  );
  EXPECT_EQ(
      run("{% set a = namespace() %}{% set a.x = a %}{% set a.y = a %}{{ a }}"),
      "error: line 1: the output grows beyond 16 MiB"
  );
  EXPECT_EQ(
      run(std::string(kDoubled) +
          "{{ ns.x|length }}{{ ns.x|first|length }}{{ ns.x is string }}{{ ns.x[0]|list|length }}"),
      "22False2"
  ) << "what reads nothing of what is inside is free";
}

TEST(TemplateLimits, ChargeForWhatIsRead) {
  for (const char* loop :
       {"{% set l = range(99999)|list %}{% for i in l %}{% set x = l|sum %}{% endfor %}",
        "{% set s = 'é' * 3000000 %}{% for i in range(99999) %}{{ '' if s[i] == 3 }}{% endfor %}",
        "{% set s = 'a' * 1000000 %}{% for i in range(99999) %}"
        "{{ '' if ('a' * 100000 ~ 'b') in s }}{% endfor %}",
        "{% set s = 'ab' * 1000000 %}{% for i in range(99999) %}{{ s.find('c') == 1 }}{% endfor %}",
        "{% set s = 'ab' * 1000000 %}{% for i in range(99999) %}{{ s.rfind('c') == 1 }}{% endfor "
        "%}",
        "{% set s = 'ab' * 1000000 %}{% for i in range(99999) %}{{ s.count('c') }}{% endfor %}",
        "{% set s = 'a' * 9000000 %}{% set t = 'a' * 9000000 %}{% for i in range(99999) %}"
        "{{ s == t }}{% endfor %}",
        "{% set s = 'a' * 9000000 %}{% set t = 'a' * 9000000 %}{% for i in range(99999) %}"
        "{{ s <= t }}{% endfor %}",
        "{% set s = 'a' * 9000000 %}{% for i in range(99999) %}{{ s.startswith(s) }}{% endfor %}",
        "{% set s = 'a' * 9000000 %}{% for i in range(99999) %}{{ s.isalpha() }}{% endfor %}",
        "{% set s = 'a' * 9000000 %}{% for i in range(99999) %}{{ s|length }}{% endfor %}",
        "{% set s = ' ' * 9000000 %}{% for i in range(99999) %}{{ s.strip() }}{% endfor %}",
        "{% set s = 'a' * 9000000 %}{% for i in range(99999) %}{{ s[:1] }}{% endfor %}",
        "{% set s = 'a' * 9000000 %}{% for i in range(99999) %}{{ s is upper }}{% endfor %}",
        "{% set s = 'a' * 9000000 %}{% for i in range(99999) %}{{ s|float }}{% endfor %}",
        "{% set s = 'a' * 9000000 %}{% for i in range(99999) %}{{ {}[s] }}{% endfor %}",
        "{% set s = 'a' * 9000000 %}{% for i in range(99999) %}{{ {}|attr(s) }}{% endfor %}",
        "{% set s = 'a' * 9000000 %}{% for i in range(99999) %}{{ '%.1s' % s }}{% endfor %}",
        "{% set l = [1] * 900000 %}{% for i in range(99999) %}{{ 2 in l }}{% endfor %}",
        "{% set l = [1] * 900000 %}{% for i in range(99999) %}{{ l.index(1, 5) }}{% endfor %}",
        "{% set l = [1] * 900000 %}{% for i in range(99999) %}{{ l == l[:] }}{% endfor %}",
        "{% set l = [1] * 99999 %}{% for i in l %}{{ l|min }}{% endfor %}",
        "{% set l = [1] * 99999 %}{% for i in l %}{% for j in l %}{% break %}{% endfor %}"
        "{% endfor %}",
        "{% set l = ['a'] * 99999 %}{% for i in l %}{{ l|join|length }}{% endfor %}",
        "{% set l = ['a'] * 99999 %}{% for i in l %}{{ ''.join(l)|length }}{% endfor %}",
        "{% set ns = namespace(s='') %}{% for i in range(99999) %}{% set ns.s = ns.s ~ 'aaaaaaaa' "
        "%}"
        "{% endfor %}",
        "{% macro m() %}{% endmacro %}{% set l = [1] * 99999 %}{% for i in l %}"
        "{{ m(*l) if i == 2 }}{{ cycler(*l).current }}{% endfor %}"}) {
    EXPECT_EQ(run(loop), kTooManySteps) << loop;
  }
}

// What would be made of a text or a list is refused before it is made.
TEST(TemplateLimits, RefuseBeforeTheyMake) {
  const std::string characters =
      "error: line 1: a text of more than 1000000 characters cannot be taken one by one";
  for (const char* use :
       {"{% for c in s %}{% endfor %}",
        "{{ s|list }}",
        "{{ s|unique }}",
        "{{ s|map('upper') }}",
        "{{ s|sort }}",
        "{{ s|batch(2) }}",
        "{% set a, b = s %}",
        "{{ dict(s) }}",
        "{{ ''.join(s) }}",
        "{{ range(*s) }}"}) {
    EXPECT_EQ(run(std::string("{% set s = 'a ' * 4000000 %}") + use), characters) << use;
  }
  for (const char* use :
       {"{{ s.split() }}",
        "{{ s.split(' ') }}",
        "{{ s.rsplit(' ') }}",
        "{{ s.rsplit() }}",
        "{{ s.replace(' ', '\\n').splitlines() }}",
        "{{ s.replace(' ', '\\n')|indent }}"}) {
    EXPECT_EQ(run(std::string("{% set s = 'a ' * 4000000 %}") + use), kTooManySteps) << use;
  }
  for (const char* use :
       {"{{ l|join }}",
        "{{ ''.join(l) }}",
        "{{ l|join(s) }}",
        "{{ l|string }}",
        "{{ l|tojson }}"}) {
    EXPECT_EQ(
        run(std::string("{% set s = 'a' * 1000000 %}{% set l = [s] * 100000 %}") + use),
        kTextTooLarge
    ) << use;
  }
  EXPECT_EQ(
      run("{% set s = 'a' * 1000000 %}{% set l = [s] * 1000000 %}{{ l|sort }}"), kTooManySteps
  );
  EXPECT_EQ(run("{{ ('\\t' * 1000000).expandtabs(1000000000) }}"), kTextTooLarge);
  EXPECT_EQ(run("{{ ('%(a)s' * 500000) % {'a': 'x' * 1000000} }}", kAllSteps), kTextTooLarge);
  EXPECT_EQ(run("{{ ('%(a).1s' * 500000) % {'a': 'x' * 1000000} }}"), kTooManySteps);
  EXPECT_EQ(run("{{ ('{0[0]}' * 500000).format('x' * 1000000) }}"), kTooManySteps);
  EXPECT_EQ(run("{{ ('{:01000000}' * 500).format(*([1] * 500)) }}").substr(0, 6), "error:");
  EXPECT_EQ(run("{{ '{:0999999,}'.format(1)|length }}"), "999999");
  EXPECT_EQ(
      run("{{ '{:08,} {:09,} {:010,.1f} {:06,} {:07_x} {:04,}'.format(1, -1, 1234.5, 1, 1, 123456) "
          "}}"),
      "0,000,001 -0,000,001 0,001,234.5 00,001 00_0001 123,456"
  );
  EXPECT_EQ(run("{{ ('{:{:01000000d}}' * 99).format(*([1] * 198)) }}"), kTooManySteps)
      << "a width of a million digits";
  EXPECT_EQ(
      run("{% for i in range(9999) %}{% set x = [1]|batch(99999, 1) %}{% endfor %}"), kTooManySteps
  );
}

// Which keys a dict has does not make it slow.
TEST(TemplateLimits, TakeKeysThatAreNearlyTheSame) {
  EXPECT_EQ(run("{% set n = 2 ** 100 %}{{ range(n, n + 20000)|unique|list|length }}"), "20000");
  EXPECT_EQ(run("{% set n = 2 ** 40 %}{{ range(0, 20000 * n, n)|unique|list|length }}"), "20000");
  EXPECT_EQ(run("{% set n = 1e308 * 10 - 1e308 * 10 %}{{ ([n] * 50000)|unique|list }}"), "[nan]");
  EXPECT_EQ(
      run("{% set n = 1e308 * 10 - 1e308 * 10 %}{{ ([(n, 1)] * 50000)|unique|list }}"), "[(nan, 1)]"
  );
  EXPECT_EQ(
      run("{{ {1: 'a', 1.0: 'b', true: 'c'} }}{{ 2 ** 60 == 2.0 ** 60 }}"
          "{{ 2 ** 60 + 1 == 2.0 ** 60 }}{{ {2 ** 60: 1}[2.0 ** 60] }}"),
      "{1: 'c'}TrueFalse1"
  );
}

// Work that a template makes by its own size.
TEST(TemplateLimits, StandLongTemplates) {
  std::string sets;
  std::string branches;
  for (int i = 0; i < 5000; ++i) {
    const std::string name = "v" + std::to_string(i);
    sets += "{% set " + name + " = 1 %}";
    branches += "{% if " + name + " %}{% set w = 1 %}{% endif %}";
  }
  EXPECT_EQ(run(sets + "{% for i in range(99999) %}{{ zz }}{% endfor %}"), kTooManySteps);
  EXPECT_EQ(
      run("{% for i in range(99999) %}{% continue %}" + sets + "{% endfor %}"), kTooManySteps
  );
  EXPECT_EQ(run(sets + branches + "{{ v0 }}{{ v4999 }}{{ w }}", kAllSteps), "111");
  EXPECT_EQ(
      run(std::string((1U << 20U) + 1, 'x')),
      "error: line 1: the template has 1048577 bytes; it may have 1048576"
  );
  const std::string name(500'000, 'n');
  EXPECT_EQ(run("{% for i in range(99999) %}{{ x." + name + " }}{% endfor %}").size(), 31U);
  EXPECT_EQ(
      run("{% set x = {} %}{% for i in range(99999) %}{{ x." + name + " }}{% endfor %}"),
      kTooManySteps
  );
  EXPECT_EQ(run("{{ " + name + " }}ok"), "ok");
}

TEST(TemplateLimits, CutLongMessages) {
  const std::string raised = run("{{ raise_exception('é' * 5000) }}");
  EXPECT_EQ(raised.size(), std::string("error: line 1: ").size() + 1000 + 38) << raised;
  EXPECT_TRUE(raised.ends_with("éé... (cut: the message has 10000 bytes)")) << raised;
  EXPECT_EQ(run("{{ raise_exception('é' * 500) }}").size(), 15U + 1000);
  EXPECT_LT(run("{{ {}['k' * 1000000].x }}").size(), 200U);
  EXPECT_LT(run("{{ [][('k' * 1000000, 1)].x }}").size(), 200U);
  EXPECT_LT(run("{{ 'x'|map('k' * 1000000) }}").size(), 200U);
  EXPECT_LT(run("{{ strftime_now('%' * 100000 ~ 'Q') }}").size(), 200U);
}

TEST(TemplateLimits, CountStepsInProportion) {
  const std::uint64_t once = steps_of("{% set s = 'a' * 1000000 %}{{ 'b' in s }}");
  const std::uint64_t twice = steps_of("{% set s = 'a' * 1000000 %}{{ 'b' in s, 'b' in s }}");
  EXPECT_GE(twice - once, 1'000'000U / 64);
  EXPECT_LE(twice - once, 1'000'000U / 16 + 100);
  EXPECT_LE(steps_of("{{ 'a' in 'abc' }}"), 5U);
  EXPECT_LE(steps_of("{{ 'user' in ['user', 'system'] }}"), 20U);
  EXPECT_LE(steps_of("{{ {'role': 'user'}['role'] == 'user' }}"), 30U);
}

}  // namespace
}  // namespace rapt::jinja
