#include <gtest/gtest.h>

#include <string>

#include "text/chat/jinja/json_text_internal.h"
#include "text/chat/jinja/template_internal.h"

namespace rapt::jinja {
namespace {

// The output with what came from data in angle brackets.
std::string marked(const std::string& source, const std::string& variables) {
  const Template compiled = Template::compile(source).value();
  const Value values = value_of(parse_json(variables, "x").value(), Origin::kData);
  const MarkedText text = compiled.render(values.as_dict()).value();
  std::string out;
  std::size_t pos = 0;
  const auto add_data = [&](std::size_t end) {
    if (pos < end) {
      out += "<" + text.bytes().substr(pos, end - pos) + ">";
    }
  };
  for (const TextRange& range : text.template_ranges()) {
    add_data(range.begin);
    out += text.bytes().substr(range.begin, range.end - range.begin);
    pos = range.end;
  }
  add_data(text.size());
  return out;
}

TEST(MarkedText, TellsDataFromTemplate) {
  EXPECT_EQ(marked("a{{ x }}b", R"({"x": "data"})"), "a<data>b");
  EXPECT_EQ(marked("{{ x }}{{ x }}", R"({"x": "d"})"), "<dd>");
  EXPECT_EQ(marked("{{ 'a' }}{{ 1 + n }}", R"({"n": 2})"), "a3");
}

TEST(MarkedText, KeepsTrackThroughEveryOperation) {
  const std::string x = R"({"x": "Dä", "list": ["p", "q"], "n": 7})";
  EXPECT_EQ(marked("{{ 'a' + x + 'b' }}", x), "a<Dä>b");
  EXPECT_EQ(marked("{{ 'a' ~ x ~ 1 }}", x), "a<Dä>1");
  EXPECT_EQ(marked("{{ ('a' ~ x ~ 'b')|upper }}", x), "A<DÄ>B");
  EXPECT_EQ(marked("{{ ('a' ~ x)[::-1] }}", x), "<äD>a");
  EXPECT_EQ(marked("{{ ('a' ~ x)[1:2] }}", x), "<D>");
  EXPECT_EQ(marked("{{ 'a-b'.replace('-', x) }}", x), "a<Dä>b");
  EXPECT_EQ(marked("{{ x.replace('ä', '!') }}", x), "<D>!");
  EXPECT_EQ(marked("{{ list|join('+') }}", x), "<p>+<q>");
  EXPECT_EQ(marked("{{ '+'.join(list) }}", x), "<p>+<q>");
  EXPECT_EQ(marked("{{ ('a,' ~ x).split(',')|join('/') }}", x), "a/<Dä>");
  EXPECT_EQ(marked("{{ '[%s]' % x }}{{ '[{}]'.format(x) }}", x), "[<Dä>][<Dä>]");
  EXPECT_EQ(marked("{{ {'k': x}|tojson }}", x), "{\"k\": \"<Dä>\"}");
  EXPECT_EQ(marked("{{ {'k': x} }}", x), "{'k': '<Dä>'}");
  EXPECT_EQ(marked("{{ ('a\\n' ~ x)|indent(2) }}", x), "a\n  <Dä>");
  EXPECT_EQ(marked("{% set y %}({{ x }}){% endset %}{{ y }}", x), "(<Dä>)");
  EXPECT_EQ(marked("{% macro m(v) %}({{ v }}){% endmacro %}{{ m(x) }}", x), "(<Dä>)");
  EXPECT_EQ(marked("{% filter trim %} {{ x }} {% endfilter %}", x), "<Dä>");
  EXPECT_EQ(marked("{{ x|default('d') }}{{ none|default(x, true) }}", x), "<DäDä>");
  EXPECT_EQ(marked("{{ x * 2 }}{{ x|center(4) }}", x), "<DäDä> <Dä> ");
  EXPECT_EQ(marked("{{ x|list|first }}{{ x|capitalize }}{{ x|urlencode }}", x), "<DDäD%C3%A4>");
}

TEST(MarkedText, MarksKeysOfData) {
  EXPECT_EQ(
      marked(
          "{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}{{ d|tojson }}",
          R"({"d": {"k": 1}})"
      ),
      "<k>=1;{\"<k>\": 1}"
  );
}

TEST(MarkedText, MarksEscapesOfDataAsData) {
  EXPECT_EQ(marked("{{ x|tojson }}", R"({"x": "\""})"), "\"<\\\">\"");
  EXPECT_EQ(marked("{{ [x] }}", R"({"x": "\n"})"), "['<\\n>']");
  EXPECT_EQ(marked("{{ x|escape }}", R"({"x": "<"})"), "<&lt;>");
}

}  // namespace
}  // namespace rapt::jinja
