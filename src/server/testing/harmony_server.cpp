#include <algorithm>

#include "server/testing/harmony_server_internal.h"

namespace rapt {

namespace {

std::string text_at(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

void read_whole_choice(const json::object& item, ClientChoice& choice) {
  const json::object& message = item.at("message").as_object();
  choice.reasoning = text_at(message, "reasoning");
  choice.content = text_at(message, "content");
  choice.finish_reason = text_at(item, "finish_reason");
  const json::value* calls = message.if_contains("tool_calls");
  EXPECT_TRUE(message.at("content").is_string() || calls != nullptr);
  if (calls == nullptr) {
    return;
  }
  EXPECT_FALSE(calls->as_array().empty());
  for (const json::value& value : calls->as_array()) {
    const json::object& call = value.as_object();
    EXPECT_EQ(call.size(), 3U);
    EXPECT_EQ(call.at("type"), "function");
    const json::object& function = call.at("function").as_object();
    choice.calls.push_back(
        {text_at(call, "id"), text_at(function, "name"), text_at(function, "arguments")}
    );
  }
}

// The first delta of a call has everything but arguments, the others have nothing but them.
void read_call_delta(const json::object& call, ClientChoice& choice) {
  const std::int64_t index = call.at("index").as_int64();
  const json::object& function = call.at("function").as_object();
  const std::string arguments = text_at(function, "arguments");
  if (index == static_cast<std::int64_t>(choice.calls.size())) {
    EXPECT_EQ(call.size(), 4U);
    EXPECT_EQ(call.at("type"), "function");
    EXPECT_EQ(arguments, "");
    choice.calls.push_back({text_at(call, "id"), text_at(function, "name"), ""});
    return;
  }
  ASSERT_EQ(index + 1, static_cast<std::int64_t>(choice.calls.size()));
  EXPECT_EQ(call.size(), 2U);
  EXPECT_EQ(function.size(), 1U);
  EXPECT_FALSE(arguments.empty());
  choice.calls.back().arguments += arguments;
}

void read_chunk_choice(const json::object& item, ClientChoice& choice) {
  EXPECT_EQ(choice.finish_reason, "") << "something follows the finish";
  const json::object& delta = item.at("delta").as_object();
  choice.reasoning += text_at(delta, "reasoning");
  choice.content += text_at(delta, "content");
  choice.finish_reason = text_at(item, "finish_reason");
  if (const json::value* calls = delta.if_contains("tool_calls")) {
    EXPECT_EQ(calls->as_array().size(), 1U);
    read_call_delta(calls->as_array().at(0).as_object(), choice);
  }
}

std::size_t index_of(const json::value& item) {
  return static_cast<std::size_t>(item.at("index").as_int64());
}

}  // namespace

std::vector<ClientChoice> read_chat_answer(const HttpClient::Response& response) {
  std::vector<ClientChoice> choices;
  EXPECT_EQ(response.status, 200) << response.body;
  if (response.status != 200) {
    return choices;
  }
  const auto choice_at = [&choices](std::size_t choice_idx) -> ClientChoice& {
    choices.resize(std::max(choices.size(), choice_idx + 1));
    return choices[choice_idx];
  };
  if (response.headers.at("content-type") == "application/json") {
    const json::value body = response.json();
    for (const json::value& item : body.at("choices").as_array()) {
      read_whole_choice(item.as_object(), choice_at(index_of(item)));
    }
    return choices;
  }
  const std::vector<std::string> events = response.events();
  EXPECT_EQ(events.empty() ? "" : events.back(), "[DONE]");
  for (const std::string& event : events) {
    const Result<json::value> chunk = parse_json(event, "the event");
    if (event == "[DONE]") {
      continue;
    }
    if (!chunk || !chunk->is_object() || !chunk->get_object().contains("choices")) {
      ADD_FAILURE() << event;
      continue;
    }
    for (const json::value& item : chunk->at("choices").as_array()) {
      read_chunk_choice(item.as_object(), choice_at(index_of(item)));
    }
  }
  return choices;
}

}  // namespace rapt
