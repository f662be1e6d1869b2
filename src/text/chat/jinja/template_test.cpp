#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "text/chat/jinja/json_text_internal.h"
#include "text/chat/jinja/template_internal.h"

namespace rapt::jinja {
namespace {

// What a template gives for variables written as JSON; an error as "error: ...".
std::string run(
    const std::string& source,
    const std::string& variables = "{}",
    const RenderOptions& options = {}
) {
  const Result<Template> compiled = Template::compile(source);
  if (!compiled) {
    return "error: " + compiled.error().message;
  }
  const Value values = value_of(parse_json(variables, "the variables").value(), Origin::kData);
  const Result<MarkedText> text = compiled->render(values.as_dict(), options);
  return text ? text->bytes() : "error: " + text.error().message;
}

TEST(Template, PrintsTextAsItIs) {
  EXPECT_EQ(run(""), "");
  EXPECT_EQ(run("plain { text } % # é\n\n"), "plain { text } % # é\n");
  EXPECT_EQ(run("a\r\nb\rc"), "a\nb\nc");
}

TEST(Template, TakesWhiteSpaceAwayAroundTags) {
  EXPECT_EQ(run("a\n  {% if true %}\nb\n  {% endif %}\nc"), "a\nb\nc");
  EXPECT_EQ(run("a\n  {%+ if true %}b{% endif +%}\nc"), "a\n  b\nc");
  EXPECT_EQ(run("a \n {{- 1 -}} \n b"), "a1b");
  EXPECT_EQ(run("a \n {{ 1 }}\nb"), "a \n 1\nb") << "variables keep what is around them";
  EXPECT_EQ(run("a\n  {# note #}\nb"), "a\nb");
  EXPECT_EQ(run("x {%- raw -%} {{ y }} {%- endraw -%} z"), "x{{ y }}z");
}

TEST(Template, ShowsValuesAsPythonDoes) {
  EXPECT_EQ(
      run("{{ none }} {{ true }} {{ 1.0 }} {{ 1e16 }} {{ 0.1 + 0.2 }} {{ 10 / 4 }}"),
      "None True 1.0 1e+16 0.30000000000000004 2.5"
  );
  EXPECT_EQ(run("{{ [1, 'a', none, \"it's\"] }}"), "[1, 'a', None, \"it's\"]");
  EXPECT_EQ(run("{{ {'a': (1,), 'b': {}} }}"), "{'a': (1,), 'b': {}}");
  EXPECT_EQ(run("{{ x }}|{{ (1 if false) }}"), "|");
  EXPECT_EQ(
      run("{{ 2 ** 100 }} {{ -7 // 2 }} {{ -7 % 3 }}"), "1267650600228229401496703205376 -4 2"
  );
}

TEST(Template, WritesJsonAsHuggingFaceDoes) {
  const std::string value = R"({"v": {"ä": [1, 2.0, null, true, "<&>"], "e": {}}})";
  EXPECT_EQ(run("{{ v|tojson }}", value), R"({"ä": [1, 2.0, null, true, "<&>"], "e": {}})");
  EXPECT_EQ(
      run("{{ v|tojson(ensure_ascii=true) }}", value),
      R"({"\u00e4": [1, 2.0, null, true, "<&>"], "e": {}})"
  );
  EXPECT_EQ(
      run("{{ v.e|tojson(indent=4) }}{{ [[], [1]]|tojson(indent=2) }}", value),
      "{}[\n  [],\n  [\n    1\n  ]\n]"
  );
  EXPECT_EQ(
      run("{{ {'b': 1, 'a': 2}|tojson(sort_keys=true, separators=(',', ':')) }}"),
      R"({"a":2,"b":1})"
  );
  EXPECT_EQ(
      run("{{ x|tojson }}"), "error: line 1: Object of type Undefined is not JSON serializable"
  );
  EXPECT_EQ(run("{{ big|tojson }}", R"({"big": 18446744073709551615})"), "18446744073709551615");
}

TEST(Template, KeepsLoopVariablesInsideButNamespacesOutside) {
  EXPECT_EQ(run("{% set x = 0 %}{% for i in [1, 2] %}{% set x = i %}{% endfor %}{{ x }}"), "0");
  EXPECT_EQ(
      run("{% set ns = namespace(x=0) %}{% for i in [1, 2] %}{% set ns.x = ns.x + i %}{% endfor %}"
          "{{ ns.x }}"),
      "3"
  );
  EXPECT_EQ(run("{% if true %}{% set x = 1 %}{% endif %}{{ x }}"), "1") << "an if has no scope";
}

TEST(Template, CallsMacros) {
  EXPECT_EQ(
      run("{% macro m(a, b='x') %}{{ a }}{{ b }}{{ varargs }}{{ kwargs }}{% endmacro %}"
          "{{ m(1, 2, 3, k=4) }}|{{ m(b=5) }}"),
      "12(3,){'k': 4}|5(){}"
  );
  EXPECT_EQ(
      run("{% macro m() %}[{{ caller('y') }}]{% endmacro %}{% call(x) m() %}{{ x }}!{% endcall %}"),
      "[y!]"
  );
  EXPECT_EQ(
      run("{% macro tree(n) %}({% if n %}{{ tree(n - 1) }}{% endif %}){% endmacro %}{{ tree(3) }}"),
      "(((())))"
  );
  EXPECT_EQ(
      run("{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}"),
      "error: line 1: macro 'm' takes not more than 1 argument(s)"
  );
}

TEST(Template, RunsRecursiveLoops) {
  EXPECT_EQ(
      run("{% for n in t recursive %}<{{ n.v }}{{ loop(n.c) if n.c }}{{ loop.depth }}>{% endfor %}",
          R"({"t": [{"v": 1, "c": [{"v": 2}]}]})"),
      "<1<22>1>"
  );
}

TEST(Template, KnowsTheDateItIsTold) {
  const RenderOptions dated = {.date = "2024-02-29"};
  EXPECT_EQ(
      run("{{ strftime_now('%d %b %Y, %A, %j, %H:%M') }}", "{}", dated),
      "29 Feb 2024, Thursday, 060, 00:00"
  );
  EXPECT_EQ(run("{{ strftime_now is defined }}", "{}", dated), "True");
  EXPECT_EQ(run("{{ strftime_now is defined }}"), "False");
  EXPECT_EQ(
      run("{{ strftime_now('%Y') }}", "{}", {.date = "2023-02-29"}),
      "error: line 1: '2023-02-29' is no date like 2025-12-31"
  );
}

TEST(Template, NamesLineAndCauseOfErrors) {
  EXPECT_EQ(
      run("\n{{ raise_exception('Roles must alternate') }}"), "error: line 2: Roles must alternate"
  );
  EXPECT_EQ(run("a\n\n{{ x.y }}"), "error: line 3: 'x' is undefined");
  EXPECT_EQ(
      run("{{ m.x.y }}", R"({"m": {}})"), "error: line 1: 'dict object' has no attribute 'x'"
  );
  EXPECT_EQ(
      run("{{ 1 + 'a' }}"), "error: line 1: unsupported operand types for +: 'int' and 'str'"
  );
  EXPECT_EQ(
      run("{{ [].append(1) }}"),
      "error: line 1: access to attribute 'append' of 'list' object is unsafe."
  );
  EXPECT_EQ(
      run("{{ ''.__class__.__mro__ }}"),
      "error: line 1: access to attribute '__class__' of 'str' object is unsafe."
  );
  EXPECT_EQ(run("{{ 5 // 0 }}"), "error: line 1: integer modulo by zero");
  EXPECT_EQ(
      run("{% set ns = namespace() %}{% set ns._x = 1 %}"),
      "error: line 1: a namespace cannot have the attribute '_x'"
  );
  EXPECT_EQ(run("{{ 2 ** 200 }}"), "error: line 1: a whole number does not fit 128 bits");
  for (const std::string where : {"m", "m.keys()"}) {
    EXPECT_EQ(
        run("{{ [1] in " + where + " }}", R"({"m": {"a": 1}})"),
        "error: line 1: a list cannot be a key: it has no hash"
    );
  }
  EXPECT_EQ(
      run("{{ ({}, 1) in m.items() }}", R"({"m": {"a": 1}})"),
      "error: line 1: a dict cannot be a key: it has no hash"
  );
  EXPECT_EQ(
      run("{{ 1 in m.items(), ('a', 1) in m.items(), [] in m.values() }}", R"({"m": {"a": 1}})"),
      "(False, True, False)"
  );
}

TEST(Template, RefusesWhatItCannotRead) {
  EXPECT_EQ(run("a\n{% if x %}"), "error: line 2: the template ends where 'endif' is missing");
  EXPECT_EQ(run("{{ 1"), "error: line 1: '{{' has no '}}'");
  EXPECT_EQ(run("{# "), "error: line 1: a comment has no end");
  EXPECT_EQ(run("{% raw %}"), "error: line 1: a raw block has no end");
  EXPECT_EQ(
      run("\n{% include 'x' %}"),
      "error: line 2: 'include' is not supported: a chat template has no other templates"
  );
  EXPECT_EQ(run("{% frobnicate %}"), "error: line 1: there is no tag 'frobnicate'");
  EXPECT_EQ(run("{% endif %}"), "error: line 1: unexpected 'endif'");
  EXPECT_EQ(run("{% break %}"), "error: line 1: 'break' stands outside of a loop");
  EXPECT_EQ(run("{{ x|nope }}"), "error: line 1: there is no filter 'nope'");
  EXPECT_EQ(run("{{ 1 is nope }}"), "error: line 1: there is no test 'nope'");
  EXPECT_EQ(run("{% if false %}{{ x|nope }}{% endif %}"), "") << "never reached";
  EXPECT_EQ(run("{{ 'a }}"), "error: line 1: a string has no end");
  EXPECT_EQ(run("{{ (1] }}"), "error: line 1: unexpected ']', expected ')'");
  EXPECT_EQ(run("{{ 'x\\ud83d' }}"), "error: line 1: an escape names no character");
  EXPECT_EQ(run("\xFF"), "error: line 1: the template is not valid UTF-8");
}

TEST(Template, EndsRunawayTemplates) {
  const std::string loops =
      "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}";
  EXPECT_EQ(
      run(loops, "{}", {.limits = {.max_steps = 100'000}}),
      "error: line 1: the template takes more than 100000 steps"
  );
  EXPECT_EQ(
      run("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"),
      "error: line 1: macros and blocks are nested more than 600 deep"
  );
  EXPECT_EQ(run("{{ 'x' * 999999999999 }}"), "error: line 1: a text grows beyond 16 MiB");
  EXPECT_EQ(run("{{ 'x'.center(999999999999) }}"), "error: line 1: a text grows beyond 16 MiB");
  EXPECT_EQ(
      run("{{ ('a' * 9999).replace('a', 'b' * 99999) }}"),
      "error: line 1: a text grows beyond 16 MiB"
  );
  EXPECT_EQ(run("{{ [1] * 99999999 }}"), "error: line 1: a list grows beyond 1000000 items");
  EXPECT_EQ(run("{{ range(1000000) }}"), "error: line 1: Range too big: more than 100000 numbers");
  EXPECT_EQ(
      run("{% set ns = namespace(x=[]) %}{% for i in range(999) %}{% set ns.x = [ns.x] %}{% endfor "
          "%}"),
      "error: line 1: lists are nested more than 120 deep"
  );
  EXPECT_EQ(run("{{ '%999999999d' % 1 }}"), "error: line 1: a width or precision above 1000000");
  EXPECT_EQ(
      run("{% for x in [1] %}{{ x }}{% endfor %}", "{}", {.limits = {.max_steps = 3}}),
      "error: line 1: the template takes more than 3 steps"
  );
}

TEST(Template, RefusesDeepNesting) {
  const auto repeated = [](const std::string& text, int count) {
    std::string out;
    for (int i = 0; i < count; ++i) {
      out += text;
    }
    return out;
  };
  for (const std::string& source :
       {"{{ " + repeated("(", 5000) + "1" + repeated(")", 5000) + " }}",
        "{{ " + repeated("[", 5000) + repeated("]", 5000) + " }}",
        "{{ " + repeated("-", 5000) + "1 }}",
        "{{ " + repeated("not ", 5000) + "1 }}",
        "{{ 1" + repeated(" + 1", 5000) + " }}",
        "{{ x" + repeated(".y", 5000) + " }}",
        "{{ x" + repeated("|upper", 5000) + " }}",
        "{{ 1" + repeated(" if 1 else 1", 5000) + " }}",
        "{% set " + repeated("(", 5000) + "x" + repeated(")", 5000) + " = 1 %}",
        repeated("{% if 1 %}", 5000) + repeated("{% endif %}", 5000)}) {
    EXPECT_NE(run(source).find("too deeply nested"), std::string::npos) << source.substr(0, 40);
  }
  EXPECT_EQ(run("{% if 0 %}" + repeated("{% elif 0 %}", 5000) + "{% else %}x{% endif %}"), "x")
      << "a chain is not deep";
}

// Linked lists of namespaces, cycles of them, and macros that know each other end without harm.
TEST(Template, LetsGoOfWhatRefersToItself) {
  EXPECT_EQ(
      run("{% set head = namespace(next=none) %}{% for i in range(20000) %}"
          "{% set n = namespace(next=head.next) %}{% set head.next = n %}{% endfor %}ok"),
      "ok"
  );
  EXPECT_EQ(
      run("{% set ns = namespace() %}{% set ns.self = ns %}{% set ns.list = [ns] %}"
          "{% for i in [1] %}{% macro m() %}{{ i }}{% endmacro %}{% set ns.m = m %}"
          "{% set ns.loop = loop %}{% endfor %}{{ ns.m() }}{{ ns.loop.index }}"),
      "11"
  );
  EXPECT_EQ(run("{% set n = cycler(1, 2).next %}{{ n() }}{{ n() }}{{ n() }}"), "121");
}

TEST(Template, ServesSeveralThreads) {
  const Template compiled =
      Template::compile("{% for m in ms %}{{ m.a|upper }}{{ 'x'.strip() }}{% endfor %}").value();
  const Value variables =
      value_of(parse_json(R"({"ms": [{"a": "b"}]})", "x").value(), Origin::kData);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        EXPECT_EQ(compiled.render(variables.as_dict())->bytes(), "Bx");
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

}  // namespace
}  // namespace rapt::jinja
