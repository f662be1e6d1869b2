#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "text/chat/jinja/json_text_internal.h"
#include "text/chat/jinja/template_internal.h"
#include "text/text_cases_internal.h"

// What Python's jinja2 makes of the same templates (tools/make_jinja_vectors.py).

namespace rapt::jinja {
namespace {

// The hash that the script calls text_hash.
std::string hash_of_output(const Result<MarkedText>& output) {
  if (!output) {
    return "error";
  }
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char byte : output->bytes()) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3ULL;
  }
  std::ostringstream out;
  out << std::hex;
  out.width(16);
  out.fill('0');
  out << hash;
  return out.str();
}

Result<MarkedText> render(const Result<Template>& compiled, const json::value& variables) {
  if (!compiled) {
    return compiled.error();
  }
  const Value values = value_of(variables, Origin::kData);
  return compiled->render(values.as_dict(), {.date = "2025-07-04"});
}

std::string shown(const Result<MarkedText>& output) {
  return output ? output->bytes() : "error: " + output.error().message;
}

TEST(JinjaVectors, RandomProgramsGiveWhatPythonGives) {
  const std::vector<json::value> variable_sets = read_case_lines("chat/jinja_variables.jsonl");
  int num_texts = 0;
  int num_programs = 0;
  for (const json::value& line : read_case_lines("chat/jinja_programs.jsonl")) {
    const std::string source(line.at("template").as_string());
    const Result<Template> compiled = Template::compile(source);
    const json::array& hashes = line.at("hashes").as_array();
    ASSERT_EQ(hashes.size(), variable_sets.size());
    for (std::size_t idx = 0; idx < hashes.size(); ++idx) {
      const Result<MarkedText> output = render(compiled, variable_sets[idx]);
      num_texts += output ? 1 : 0;
      EXPECT_EQ(hash_of_output(output), std::string(hashes[idx].as_string()))
          << "program " << num_programs << ", variables " << idx << "\n"
          << source << "\n----- gives\n"
          << shown(output);
      if (const json::value* outputs = line.as_object().if_contains("outputs")) {
        const json::value& expected = outputs->as_array()[idx];
        if (expected.is_string()) {
          EXPECT_EQ(shown(output), std::string(expected.as_string())) << source;
        }
      }
    }
    ++num_programs;
  }
  EXPECT_GT(num_texts, 2000);
}

std::string read_template(const std::string& name) {
  std::ifstream file(RAPT_SOURCE_DIR "/tests/cases/chat/templates/" + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(JinjaVectors, ChatTemplatesGiveWhatPythonGives) {
  const std::vector<json::value> talks = read_case_lines("chat/jinja_talks.jsonl");
  int num_texts = 0;
  for (const json::value& line : read_case_lines("chat/jinja_templates.jsonl")) {
    const std::string name(line.at("template").as_string());
    const Result<Template> compiled = Template::compile(read_template(name));
    const json::array& hashes = line.at("hashes").as_array();
    ASSERT_EQ(hashes.size(), talks.size());
    for (std::size_t idx = 0; idx < hashes.size(); ++idx) {
      const Result<MarkedText> output = render(compiled, talks[idx]);
      num_texts += output ? 1 : 0;
      EXPECT_EQ(hash_of_output(output), std::string(hashes[idx].as_string()))
          << name << ", conversation " << idx << "\n"
          << shown(output);
    }
    for (const auto& [place, expected] : line.at("outputs").as_object()) {
      if (expected.is_string()) {
        const Result<MarkedText> output = render(compiled, talks[std::stoul(std::string(place))]);
        EXPECT_EQ(shown(output), std::string(expected.as_string())) << name;
      }
    }
  }
  EXPECT_GT(num_texts, 2000);
}

// Far more than any model reads: the budget is for templates that run away, not for long talks.
TEST(JinjaVectors, ChatTemplatesTakeLongConversations) {
  constexpr int kNumMessages = 5000;
  constexpr std::size_t kMessageBytes = 1000;
  json::array messages;
  for (int i = 0; i < kNumMessages; ++i) {
    std::string text = "Message " + std::to_string(i) + ": ";
    while (text.size() < kMessageBytes) {
      text += "some words, Grüße\n";
    }
    messages.push_back(json::object{
        {"role", i % 2 == 0 ? "user" : "assistant"}, {"content", std::move(text)}});
  }
  const json::value variables = json::object{
      {"messages", std::move(messages)},
      {"add_generation_prompt", true},
      {"bos_token", "<s>"},
      {"eos_token", "</s>"},
      {"tools", nullptr}};
  const Value values = value_of(variables, Origin::kData);
  for (const json::value& line : read_case_lines("chat/jinja_templates.jsonl")) {
    const std::string name(line.at("template").as_string());
    const Result<Template> compiled = Template::compile(read_template(name));
    // Half of what a template may use.
    const Result<MarkedText> text = compiled->render(
        values.as_dict(), {.date = "2025-07-04", .limits = {.max_steps = Limits().max_steps / 2}}
    );
    ASSERT_TRUE(text) << name << ": " << text.error().message;
    EXPECT_GT(text->size(), kNumMessages * kMessageBytes) << name;
  }
}

}  // namespace
}  // namespace rapt::jinja
