#include <gtest/gtest.h>

#include "text/chat/harmony/harmony_content_internal.h"
#include "text/chat/harmony/harmony_renderer_internal.h"
#include "text/chat/harmony/harmony_schema_internal.h"
#include "text/text_cases_internal.h"

namespace rapt {
namespace {

std::string type_of(std::string_view schema) {
  std::string out;
  append_harmony_type(out, *parse_json(schema, "the schema"));
  return out;
}

std::string json_of(std::string_view text) {
  std::string out;
  append_harmony_json(out, *parse_json(text, "the value"));
  return out;
}

// The hash of a prompt that holds nothing but this system message.
std::string prompt_hash(const HarmonySystemContent& content) {
  HarmonyMessage message;
  message.role = HarmonyRole::kSystem;
  message.parts = {harmony_system_text(content, false)};
  const HarmonyTokens tokens = *HarmonyTokens::find_in(test_tokenizer());
  const HarmonyRenderer renderer(test_tokenizer(), tokens);
  IdHash hash;
  hash.add(*renderer.render_for_completion(std::span(&message, 1)));
  return hash.hex();
}

// The hashes are of prompts that openai/harmony publishes among its test data.
TEST(HarmonySystemContent, GivesThePublishedPrompts) {
  HarmonySystemContent content = HarmonySystemContent::standard();
  content.conversation_date = "2025-06-28";
  EXPECT_EQ(prompt_hash(content), "eef2f8c97b3818b8");
  content.tools["browser"] = harmony_browser_tool();
  EXPECT_EQ(prompt_hash(content), "a2a86de1a2e07ba9");
  content.tools["python"] = harmony_python_tool();
  EXPECT_EQ(prompt_hash(content), "4aa22cabaeb06774");
}

TEST(HarmonySystemContent, LeavesOutWhatIsAbsent) {
  EXPECT_EQ(harmony_system_text({}, true), "");
  HarmonySystemContent content;
  content.effort = HarmonyEffort::kHigh;
  EXPECT_EQ(harmony_system_text(content, false), "Reasoning: high");
  content.knowledge_cutoff = "2024-06";
  content.valid_channels = {"analysis", "final"};
  EXPECT_EQ(
      harmony_system_text(content, false),
      "Knowledge cutoff: 2024-06\n\nReasoning: high\n\n# Valid channels: analysis, final."
  );
  content.channel_required = true;
  content.model_identity = "You are Rapt.";
  EXPECT_EQ(
      harmony_system_text(content, true),
      "You are Rapt.\nKnowledge cutoff: 2024-06\n\nReasoning: high\n\n"
      "# Valid channels: analysis, final. Channel must be included for every message.\n"
      "Calls to these tools must go to the commentary channel: 'functions'."
  );
}

TEST(HarmonyEffort, HasNames) {
  for (const HarmonyEffort effort :
       {HarmonyEffort::kLow, HarmonyEffort::kMedium, HarmonyEffort::kHigh}) {
    EXPECT_EQ(harmony_effort_called(harmony_effort_name(effort)), effort);
  }
  EXPECT_EQ(harmony_effort_called("Low"), std::nullopt);
}

TEST(HarmonyDeveloperContent, WritesInstructionsAndTools) {
  HarmonyDeveloperContent content;
  EXPECT_EQ(harmony_developer_text(content), "");
  EXPECT_FALSE(content.declares_functions());
  content.instructions = "";
  EXPECT_EQ(harmony_developer_text(content), "# Instructions\n\n");
  content.instructions = "Be brief.";
  content.tools["functions"] = {"functions", std::nullopt, {}};
  EXPECT_FALSE(content.declares_functions());
  content.tools["functions"].functions = {
      {"now", "Tells the time.\r\nAnd the date.\n", std::nullopt},
      {"add", "", *parse_json(R"({"type": "object", "properties": {}})", "it")},
  };
  content.tools["a"] = {"notes", "Takes text.\n\nAny text.", {}};
  EXPECT_TRUE(content.declares_functions());
  EXPECT_EQ(
      harmony_developer_text(content),
      "# Instructions\n\nBe brief.\n\n# Tools\n\n## notes\n\nTakes text.\n\nAny text.\n\n"
      "## functions\n\nnamespace functions {\n\n"
      "// Tells the time.\n// And the date.\ntype now = () => any;\n\n"
      "type add = (_: {\n}) => any;\n\n} // namespace functions"
  );
}

TEST(HarmonyType, WritesPlainTypes) {
  EXPECT_EQ(type_of(R"({"type": "string"})"), "string");
  EXPECT_EQ(type_of(R"({"type": "string", "enum": ["a", 1, "b\"c"]})"), R"("a" | "b"c")");
  EXPECT_EQ(type_of(R"({"type": "string", "enum": [1]})"), "string");
  EXPECT_EQ(type_of(R"({"type": "integer"})"), "number");
  EXPECT_EQ(type_of(R"({"type": ["integer", "null", 3]})"), "number | null");
  EXPECT_EQ(type_of(R"({"type": [], "oneOf": 3})"), "any");
  EXPECT_EQ(type_of(R"({"type": "array"})"), "Array<any>");
  const char* choices = R"({"type": "array", "items": {"type": "string", "enum": ["x", "y"]}})";
  EXPECT_EQ(type_of(choices), R"("x" | "y"[])");
  for (const char* unknown : {"{}", "3", R"({"anyOf": []})", R"({"type": "null"})"}) {
    EXPECT_EQ(type_of(unknown), "any");
  }
}

TEST(HarmonyType, RepeatsTheDescriptionOfANestedObject) {
  const char* schema = R"({"type": "object", "properties": {"o": {
      "type": "object", "description": "inner", "required": ["a"], "properties": {
        "a": {"type": "string"},
        "b": {"type": "array", "items": {"type": "object", "properties": {
          "c": {"type": "boolean"}}}}}}}})";
  EXPECT_EQ(
      type_of(schema),
      "{\n"
      "// inner\n"
      "o?:     // inner\n"
      "{\n"
      "    a: string,\n"
      "    b?: {\n"
      "        c?: boolean,\n"
      "        }[],\n"
      "    },\n"
      "}"
  );
}

TEST(HarmonyType, CommentsOnProperties) {
  const char* schema = R"({"type": "object", "required": ["unit"], "properties": {
      "unit": {"type": "string", "enum": ["c", "f"], "default": "c", "title": "Unit"},
      "place": {"type": "string", "default": "a \"b\"", "description": "Where.\nExactly.",
                "examples": ["Rome", 3]},
      "n": {"type": ["number", "string"], "default": -1, "nullable": true},
      "m": {"type": ["null", "string"], "default": {"a": 1e-7}, "nullable": true}}})";
  EXPECT_EQ(
      type_of(schema),
      "{\n"
      "// Unit\n"
      "//\n"
      "unit: \"c\" | \"f\", // default: c\n"
      "// Where.\nExactly.\n"
      "// Examples:\n"
      "// - \"Rome\"\n"
      "place?: string, // default: \"a \"b\"\"\n"
      "n?: number | string | null, // default: -1\n"
      "m?: null | string, // default: {\"a\":1e-7}\n"
      "}"
  );
}

TEST(HarmonyType, WritesAlternatives) {
  const char* schema = R"({"type": "object", "properties": {
      "a": {"description": "one", "default": "x", "oneOf": [
        {"type": "string", "description": "one"},
        {"type": "number", "description": "two", "nullable": true, "default": 1.0}]},
      "b": {"description": "above", "oneOf": [
        {"type": "string", "enum": ["k"], "description": "first", "default": "k"},
        {"type": "boolean", "description": "above"}]},
      "c": {"type": "string", "oneOf": 1, "description": "not shown", "default": 2}}})";
  EXPECT_EQ(
      type_of(schema),
      "{\n"
      "// default: \"x\"\n"
      "a?:\n"
      " | string\n"
      " | number | null // two default: 1.0\n"
      ",\n"
      "// above\n"
      "b?:\n"
      " | \"k\" // default: k\n"
      " | boolean\n"
      ",\n"
      "c?: string,\n"
      "}"
  );
  EXPECT_EQ(
      type_of(R"({"oneOf": [{"type": "string", "enum": ["k"], "default": "k"},
                            {"description": "d", "default": "v"}]})"),
      "\n | \"k\" // default: \"k\"\n | any // d default: \"v\""
  );
}

// The time must not grow with the square of the size; a test run would notice that.
TEST(HarmonyType, CopesWithLargeSchemas) {
  json::object properties;
  for (int i = 0; i < 20'000; ++i) {
    properties["p" + std::to_string(i)] = {{"type", "string"}, {"nullable", true}};
  }
  const json::value schema = {{"type", "object"}, {"properties", std::move(properties)}};
  std::string out;
  append_harmony_type(out, schema);
  EXPECT_TRUE(out.ends_with("p19999?: string | null,\n}"));
}

TEST(HarmonyJson, WritesNumbersAsTheReferenceDoes) {
  for (const auto& [text, expected] : std::initializer_list<std::pair<const char*, const char*>>{
           {"0", "0"},
           {"-9223372036854775808", "-9223372036854775808"},
           {"18446744073709551615", "18446744073709551615"},
           {"18446744073709551616", "1.8446744073709552e19"},
           {"0.0", "0.0"},
           {"-0.0", "-0.0"},
           {"1.0", "1.0"},
           {"-2.25", "-2.25"},
           {"1e5", "100000.0"},
           {"123456.789", "123456.789"},
           {"1e15", "1000000000000000.0"},
           {"1234567890123456.0", "1234567890123456.0"},
           {"1e16", "1e16"},
           {"2.5e20", "2.5e20"},
           {"0.00001", "0.00001"},
           {"0.0000123", "0.0000123"},
           {"0.000001", "1e-6"},
           {"1.5e-7", "1.5e-7"},
           {"7.9084e29", "7.9084e29"},
           {"0.1234567890123456", "0.1234567890123456"},
       }) {
    EXPECT_EQ(json_of(text), expected) << text;
  }
}

TEST(HarmonyJson, WritesCompactly) {
  EXPECT_EQ(json_of("{ }"), "{}");
  EXPECT_EQ(json_of("[ ]"), "[]");
  EXPECT_EQ(
      json_of(R"({"b": [1, null, true, "\u0007\b\"\\/\u00e4"], "a": {"c": 0.5}})"),
      R"({"b":[1,null,true,"\u0007\b\"\\/ä"],"a":{"c":0.5}})"
  );
}

}  // namespace
}  // namespace rapt
