#include "server/testing/server_test_internal.h"

namespace rapt {
namespace {

struct BadBody {
  std::string body;
  const char* param;  // nullptr: null
  int status = 400;
};

std::string chat_with(const std::string& field) {
  return R"({"messages":[{"role":"user","content":"hi"}],)" + field + "}";
}

std::string text_with(const std::string& field) {
  return R"({"prompt":"hi",)" + field + "}";
}

std::string nested(int depth) {
  return R"({"messages":)" + std::string(depth, '[') + std::string(depth, ']') + "}";
}

class MalformedTest : public ServerTest {
 protected:
  // All on one connection: a bad body must not cost the client its connection.
  void expect_all_refused(const std::string& route, const std::vector<BadBody>& cases) {
    start();
    HttpClient http = client();
    for (const BadBody& bad : cases) {
      SCOPED_TRACE(bad.body.substr(0, 200));
      const HttpClient::Response response = http.post(route, bad.body);
      ASSERT_EQ(response.status, bad.status) << response.body;
      const json::value body = response.json();
      EXPECT_EQ(at(body, "error").as_object().size(), 4U);
      EXPECT_FALSE(at(body, "error/message").as_string().empty());
      EXPECT_EQ(at(body, "error/type"), "invalid_request_error");
      EXPECT_EQ(
          at(body, "error/param"),
          bad.param == nullptr ? json::value(nullptr) : json::value(bad.param)
      );
    }
    EXPECT_EQ(http.get("/health").status, 200);
    EXPECT_EQ(engine.num_submitted(), 0);
  }
};

TEST_F(MalformedTest, BodiesThatAreNoRequest) {
  const std::vector<BadBody> cases = {
      {"", nullptr},
      {" ", nullptr},
      {"{", nullptr},
      {"}", nullptr},
      {"null", nullptr},
      {"[]", nullptr},
      {"1", nullptr},
      {"\"text\"", nullptr},
      {"{\"messages\":}", nullptr},
      {"{'messages':[]}", nullptr},
      {"{\"messages\":[],}", nullptr},
      {"{} {}", nullptr},
      {"{\"a\":\"\xFF\"}", nullptr},
      {"{\"a\":\"\xC0\x80\"}", nullptr},
      {"{\"a\":\"\\ud800\"}", nullptr},
      {"{\"a\":\"\\u12\"}", nullptr},
      {"{\"a\":\"\n\"}", nullptr},
      {"{\"a\":1e400}", nullptr},
      {"{\"a\":01}", nullptr},
      {"{\"a\":NaN}", nullptr},
      {"{\"a\":Infinity}", nullptr},
      {nested(100), nullptr},
      {nested(100000), nullptr},
      {std::string("{\"a\":\0}", 7), nullptr},
      {"messages=hi", nullptr},
  };
  expect_all_refused("/v1/chat/completions", cases);
}

TEST_F(MalformedTest, ChatFieldsAreNamed) {
  const std::vector<BadBody> cases = {
      {"{}", "messages"},
      {R"({"messages":null})", "messages"},
      {R"({"messages":"hi"})", "messages"},
      {R"({"messages":{}})", "messages"},
      {R"({"messages":[]})", "messages"},
      {R"({"messages":[1]})", "messages[0]"},
      {R"({"messages":[{}]})", "messages[0].role"},
      {R"({"messages":[{"role":1,"content":""}]})", "messages[0].role"},
      {R"({"messages":[{"role":"king","content":""}]})", "messages[0].role"},
      {R"({"messages":[{"role":"function","name":"f","content":"x"}]})", "messages[0].role"},
      {R"({"messages":[{"role":"tool","content":"x","tool_call_id":1}]})",
       "messages[0].tool_call_id"},
      {R"({"messages":[{"role":"user"}]})", "messages[0].content"},
      {R"({"messages":[{"role":"user","content":null}]})", "messages[0].content"},
      {R"({"messages":[{"role":"user","content":1}]})", "messages[0].content"},
      {R"({"messages":[{"role":"user","content":["x"]}]})", "messages[0].content[0]"},
      {R"({"messages":[{"role":"user","content":[{}]}]})", "messages[0].content[0].type"},
      {R"({"messages":[{"role":"user","content":[{"type":"text"}]}]})",
       "messages[0].content[0].text"},
      {R"({"messages":[{"role":"user","content":[{"type":"text","text":1}]}]})",
       "messages[0].content[0].text"},
      {R"({"messages":[{"role":"user","content":[{"type":"image_url","image_url":{}}]}]})",
       "messages[0].content[0].type"},
      {R"({"messages":[{"role":"user","content":"a","name":1}]})", "messages[0].name"},
      {R"({"messages":[{"role":"assistant","content":"a","reasoning":1}]})",
       "messages[0].reasoning"},
      {R"({"messages":[{"role":"assistant","tool_calls":[{"id":"1"}]}]})",
       "messages[0].tool_calls[0].function"},
      {R"({"messages":[{"role":"assistant","tool_calls":{}}]})", "messages[0].tool_calls"},
      {R"({"messages":[{"role":"assistant","tool_calls":[1]}]})", "messages[0].tool_calls[0]"},
      {R"({"messages":[{"role":"assistant","tool_calls":[{"id":1}]}]})",
       "messages[0].tool_calls[0].id"},
      {R"({"messages":[{"role":"assistant","tool_calls":[{"type":"custom"}]}]})",
       "messages[0].tool_calls[0].type"},
      {R"({"messages":[{"role":"assistant","tool_calls":[{"function":{}}]}]})",
       "messages[0].tool_calls[0].function.name"},
      {R"({"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f",)"
       R"("arguments":1}}]}]})",
       "messages[0].tool_calls[0].function.arguments"},
      {R"({"messages":[{"role":"assistant","function_call":{"name":"f"}}]})",
       "messages[0].function_call"},
      {chat_with(R"("model":1)"), "model"},
      {chat_with(R"("model":"other")"), "model", 404},
      {chat_with(R"("temperature":"hot")"), "temperature"},
      {chat_with(R"("temperature":-0.1)"), "temperature"},
      {chat_with(R"("temperature":1e308)"), "temperature"},
      {chat_with(R"("temperature":true)"), "temperature"},
      {chat_with(R"("top_p":0)"), "top_p"},
      {chat_with(R"("top_p":1.1)"), "top_p"},
      {chat_with(R"("top_k":-2)"), "top_k"},
      {chat_with(R"("top_k":1.5)"), "top_k"},
      {chat_with(R"("min_p":2)"), "min_p"},
      {chat_with(R"("presence_penalty":3)"), "presence_penalty"},
      {chat_with(R"("frequency_penalty":-2.1)"), "frequency_penalty"},
      {chat_with(R"("repetition_penalty":0)"), "repetition_penalty"},
      {chat_with(R"("seed":"x")"), "seed"},
      {chat_with(R"("seed":1e30)"), "seed"},
      {chat_with(R"("seed":18446744073709551615)"), "seed"},
      {chat_with(R"("n":0)"), "n"},
      {chat_with(R"("n":129)"), "n"},
      {chat_with(R"("n":true)"), "n"},
      {chat_with(R"("max_tokens":0)"), "max_tokens"},
      {chat_with(R"("max_tokens":-5)"), "max_tokens"},
      {chat_with(R"("max_completion_tokens":"many")"), "max_completion_tokens"},
      {chat_with(R"("min_tokens":5,"max_tokens":4)"), "min_tokens"},
      {chat_with(R"("stop":1)"), "stop"},
      {chat_with(R"("stop":[""])"), "stop"},
      {chat_with(R"("stop":"")"), "stop"},
      {chat_with(R"("stop":["a",1])"), "stop"},
      {chat_with(R"("stop":["1","2","3","4","5","6","7","8","9","0","a","b","c","d","e","f","g"])"),
       "stop"},
      {chat_with(R"("stop_token_ids":[-1])"), "stop_token_ids"},
      {chat_with(R"("stop_token_ids":[512])"), "stop_token_ids"},
      {chat_with(R"("stop_token_ids":5)"), "stop_token_ids"},
      {chat_with(R"("logit_bias":[])"), "logit_bias"},
      {chat_with(R"("logit_bias":{"x":1})"), "logit_bias"},
      {chat_with(R"("logit_bias":{"-1":1})"), "logit_bias"},
      {chat_with(R"("logit_bias":{"1":101})"), "logit_bias"},
      {chat_with(R"("logit_bias":{"1":"a"})"), "logit_bias"},
      {chat_with(R"("logit_bias":{"512":1})"), "logit_bias"},
      {chat_with(R"("logit_bias":{"99999999999":1})"), "logit_bias"},
      {chat_with(R"("logprobs":1)"), "logprobs"},
      {chat_with(R"("top_logprobs":1)"), "top_logprobs"},
      {chat_with(R"("logprobs":true,"top_logprobs":21)"), "top_logprobs"},
      {chat_with(R"("stream":"yes")"), "stream"},
      {chat_with(R"("stream_options":{"include_usage":true})"), "stream_options"},
      {chat_with(R"("stream":true,"stream_options":{"include_usage":1})"),
       "stream_options.include_usage"},
      {chat_with(R"("reasoning_effort":"extreme")"), "reasoning_effort"},
      {chat_with(R"("chat_template_kwargs":{"conversation_date":"today"})"),
       "chat_template_kwargs.conversation_date"},
      {chat_with(R"("chat_template_kwargs":[])"), "chat_template_kwargs"},
      {chat_with(R"("tools":{})"), "tools"},
      {chat_with(R"("tools":[1])"), "tools[0]"},
      {chat_with(R"("tools":[{"type":1}])"), "tools[0].type"},
      {chat_with(R"("tools":[{"type":"function"}])"), "tools[0].function"},
      {chat_with(R"("tools":[{"type":"function","function":{}}])"), "tools[0].function.name"},
      {chat_with(R"("tools":[{"type":"function","function":{"name":"f","parameters":[]}}])"),
       "tools[0].function.parameters"},
      {chat_with(R"("tool_choice":1)"), "tool_choice"},
      {chat_with(R"("tool_choice":"some")"), "tool_choice"},
      {chat_with(R"("tool_choice":"required")"), "tool_choice"},
      {chat_with(R"("tools":[{"type":"web_search"}],"tool_choice":"required")"), "tool_choice"},
      {chat_with(R"("tool_choice":{"type":"function","function":{"name":"f"}})"), "tool_choice"},
      {chat_with(R"("tool_choice":{"type":"allowed_tools"})"), "tool_choice.type"},
      {chat_with(R"("tool_choice":{"type":"function"})"), "tool_choice.function"},
      {chat_with(R"("tool_choice":{"function":{"name":"f"}})"), "tool_choice.type"},
      {chat_with(R"("parallel_tool_calls":1)"), "parallel_tool_calls"},
      {chat_with(R"("function_call":{"name":"f"})"), "function_call"},
      {chat_with(R"("functions":[{"name":"f"}])"), "functions"},
      {chat_with(R"("response_format":{"type":"json_object"})"), "response_format"},
      {chat_with(R"("response_format":{})"), "response_format.type"},
      {chat_with(R"("response_format":"json")"), "response_format"},
      {chat_with(R"("guided_regex":"a+")"), "guided_regex"},
      {chat_with(R"("structured_outputs":{"regex":"a"})"), "structured_outputs"},
      {chat_with(R"("prompt_logprobs":1)"), "prompt_logprobs"},
      {chat_with(R"("modalities":["audio"])"), "modalities"},
      {chat_with(R"("echo":true)"), "echo"},
      {chat_with(R"("add_generation_prompt":false)"), "add_generation_prompt"},
  };
  expect_all_refused("/v1/chat/completions", cases);
}

TEST_F(MalformedTest, TokenizeFieldsAreNamed) {
  const std::vector<BadBody> cases = {
      {"{}", "prompt"},
      {"[]", nullptr},
      {R"({"prompt":1})", "prompt"},
      {R"({"prompt":["a"]})", "prompt"},
      {R"({"prompt":"a","model":"other"})", "model", 404},
      {R"({"prompt":"a","return_token_strs":1})", "return_token_strs"},
      {R"({"prompt":"a","add_special_tokens":"no"})", "add_special_tokens"},
      {R"({"messages":[]})", "messages"},
      {R"({"messages":[{"role":"king","content":""}]})", "messages[0].role"},
  };
  expect_all_refused("/tokenize", cases);
}

TEST_F(MalformedTest, DetokenizeFieldsAreNamed) {
  const std::vector<BadBody> cases = {
      {"{}", "tokens"},
      {R"({"tokens":"a"})", "tokens"},
      {R"({"tokens":["a"]})", "tokens"},
      {R"({"tokens":[1.5]})", "tokens"},
      {R"({"tokens":[-1]})", "tokens"},
      {R"({"tokens":[512]})", "tokens"},
      {R"({"tokens":[1],"model":"other"})", "model", 404},
  };
  expect_all_refused("/detokenize", cases);
}

TEST_F(MalformedTest, CompletionFieldsAreNamed) {
  const std::vector<BadBody> cases = {
      {"{}", "prompt"},
      {R"({"prompt":""})", "prompt"},
      {R"({"prompt":[]})", "prompt"},
      {R"({"prompt":[[]]})", "prompt"},
      {R"({"prompt":[512]})", "prompt"},
      {R"({"prompt":[2147483648]})", "prompt"},
      {R"({"prompt":["a",["b"]]})", "prompt"},
      {R"({"prompt":{"text":"a"}})", "prompt"},
      {text_with(R"("model":"other")"), "model", 404},
      {text_with(R"("max_tokens":-1)"), "max_tokens"},
      {text_with(R"("logprobs":21)"), "logprobs"},
      {text_with(R"("logprobs":"all")"), "logprobs"},
      {text_with(R"("logprobs":1,"echo":true)"), "logprobs"},
      {text_with(R"("echo":"yes")"), "echo"},
      {text_with(R"("suffix":"end")"), "suffix"},
      {text_with(R"("best_of":2)"), "best_of"},
      {text_with(R"("n":1.5)"), "n"},
      {text_with(R"("min_tokens":17)"), "min_tokens"},
      {text_with(R"("response_format":{"type":"json_schema","json_schema":{}})"),
       "response_format"},
      {text_with(R"("prompt_embeds":"AAAA")"), "prompt_embeds"},
  };
  expect_all_refused("/v1/completions", cases);
}

}  // namespace
}  // namespace rapt
