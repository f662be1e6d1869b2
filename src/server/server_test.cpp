#include "server/server.h"

#include <thread>

#include "server/testing/server_test_internal.h"

namespace rapt {
namespace {

constexpr const char* kChat = "/v1/chat/completions";
constexpr std::chrono::seconds kPatience{20};

TEST_F(ServerTest, ModelsAreListed) {
  start();
  HttpClient http = client();
  const json::value list = http.get("/v1/models").json();
  EXPECT_EQ(at(list, "object"), "list");
  EXPECT_EQ(at(list, "data/0/id"), "fake-model");
  EXPECT_EQ(at(list, "data/1/id"), "alias");
  EXPECT_EQ(at(list, "data/1/root"), "fake-model");
  EXPECT_EQ(at(list, "data/0/max_model_len"), 2048);
  EXPECT_EQ(at(http.get("/v1/models/alias").json(), "object"), "model");
  expect_error(http.get("/v1/models/a/b"), 404, "model", "model_not_found");
  const HttpClient::Response invalid = http.get("/v1/models/%ff%41");
  expect_error(invalid, 404, "model", "model_not_found");
  EXPECT_THAT(
      invalid.body,
      ::testing::HasSubstr("\xEF\xBF\xBD"
                           "A")
  );
}

TEST_F(ServerTest, VersionIsTheConfiguredOne) {
  start();
  EXPECT_EQ(client().get("/version").body, R"({"version":"1.2.3"})");
}

TEST_F(ServerTest, UnknownRoutesAndMethodsAreErrorsInShape) {
  start();
  HttpClient http = client();
  expect_error(http.get("/v2/nothing"), 404, nullptr, nullptr);
  const HttpClient::Response wrong = http.get(kChat);
  expect_error(wrong, 405, nullptr, nullptr);
  EXPECT_EQ(wrong.headers.at("allow"), "POST, OPTIONS");
}

TEST_F(ServerTest, KeysGuardAllButHealth) {
  config.api_keys = {"one", "two"};
  start();
  EXPECT_EQ(client().get("/health").status, 200);
  EXPECT_EQ(client().get("/ping").status, 200);
  for (const char* path : {"/v1/models", "/metrics", "/version"}) {
    expect_error(client().get(path), 401, nullptr, "invalid_api_key");
    EXPECT_EQ(client().get(path, "authorization: Bearer two\r\n").status, 200);
  }
  expect_error(client().post(kChat, chat_body()), 401, nullptr, "invalid_api_key");
  EXPECT_EQ(client().post(kChat, chat_body(), "authorization: Bearer one\r\n").status, 200);
}

TEST_F(ServerTest, HealthFollowsTheEngine) {
  start();
  engine.set_health(true, 59.0);
  EXPECT_EQ(client().get("/health").status, 200);
  engine.set_health(true, 61.0);
  expect_error(client().get("/health"), 503, nullptr, "service_unavailable");
  engine.set_health(false, 0.0);
  expect_error(client().get("/ping"), 503, nullptr, "service_unavailable");
}

TEST_F(ServerTest, AFullQueueIs429) {
  start();
  engine.set_submit_outcome(SubmitOutcome::kQueueFull);
  const HttpClient::Response response = client().post(kChat, chat_body(R"(,"stream":true)"));
  expect_error(response, 429, nullptr, "rate_limit_exceeded");
  EXPECT_EQ(response.headers.at("retry-after"), "1");
  EXPECT_THAT(
      client().get("/metrics").body,
      ::testing::HasSubstr(R"(rapt:requests_rejected_total{cause="queue_full",)")
  );
}

TEST_F(ServerTest, AnUnhealthyEngineIs503) {
  start();
  engine.set_submit_outcome(SubmitOutcome::kUnhealthy);
  expect_error(client().post(kChat, chat_body()), 503, nullptr, "service_unavailable");
}

TEST_F(ServerTest, AFailedRequestIs500InShape) {
  start();
  engine.set_error("The logits are not finite.");
  expect_error(client().post(kChat, chat_body()), 500, nullptr, "server_error");
}

TEST_F(ServerTest, AFailedStreamEndsWithAnErrorEvent) {
  start();
  engine.set_error("The logits are not finite.");
  const HttpClient::Response response = client().post(kChat, chat_body(R"(,"stream":true)"));
  EXPECT_EQ(response.status, 200);
  EXPECT_THAT(
      response.events(),
      ::testing::ElementsAre(
          R"({"error":{"message":"The logits are not finite.","type":"server_error",)"
          R"("param":null,"code":"server_error"}})",
          "[DONE]"
      )
  );
}

TEST_F(ServerTest, AClientThatLeavesCancelsItsRequest) {
  start();
  engine.hold();
  for (const char* more : {"", R"(,"stream":true)", R"(,"n":3)"}) {
    for (const bool abruptly : {false, true}) {
      HttpClient http = client();
      http.send_post(kChat, chat_body(more));
      ASSERT_TRUE(engine.wait_live(1));
      http.close(abruptly);
      EXPECT_TRUE(engine.wait_live(0)) << more;
    }
  }
  EXPECT_THAT(
      client().get("/metrics").body,
      ::testing::HasSubstr(R"(rapt:client_disconnects_total{engine="0",model_name="fake-model"} 6)")
  );
}

TEST_F(ServerTest, AllPromptsOfACallAreCancelled) {
  start();
  engine.hold();
  HttpClient http = client();
  http.send_post("/v1/completions", R"({"prompt":["a","b","c"]})");
  ASSERT_TRUE(engine.wait_live(3));
  http.close();
  EXPECT_TRUE(engine.wait_live(0));
}

TEST_F(ServerTest, ManyClientsOfWhichHalfLeaveEarly) {
  start();
  // Without an end the request goes on until the context is full.
  engine.set_reply({FakeTokenizer::kAnswer, 'a'});
  constexpr int kNumClients = 32;
  std::vector<std::thread> clients;
  std::atomic<int> num_complete = 0;
  for (int client_idx = 0; client_idx < kNumClients; ++client_idx) {
    clients.emplace_back([&, client_idx] {
      HttpClient http = client();
      const bool streams = client_idx % 4 < 2;
      const std::string more = streams ? R"(,"stream":true)" : "";
      if (client_idx % 2 == 0) {
        http.send_post(kChat, chat_body(more));
        if (streams) {
          http.read_until("\"content\":\"a");
        }
        http.close(client_idx % 8 < 4);
      } else if (http.post(kChat, chat_body(more)).status == 200) {
        ++num_complete;
      }
    });
  }
  for (std::thread& thread : clients) {
    thread.join();
  }
  EXPECT_EQ(num_complete.load(), kNumClients / 2);
  EXPECT_TRUE(engine.wait_live(0));
  EXPECT_TRUE(server->wait_idle(kPatience));
}

TEST_F(ServerTest, ASlowReaderGetsEverythingInFewerPieces) {
  start();
  engine.set_reply({'x'});
  HttpClient http = client();
  // About 1.3 MB of events in the end: more than the server keeps for one client.
  http.send_post("/v1/completions", text_body(R"(,"stream":true,"max_tokens":2000,"n":4)"));
  ASSERT_TRUE(engine.wait_live(0));
  const HttpClient::Response response = http.read_response();
  std::size_t num_characters = 0;
  for (const std::string& event : response.events()) {
    if (event != "[DONE]") {
      const json::value text = at(parse_json(event, "event").value(), "choices/0/text");
      num_characters += text.as_string().size();
    }
  }
  EXPECT_EQ(num_characters, 8000U);
}

TEST_F(ServerTest, DrainingFinishesWhatIsRunning) {
  start();
  engine.hold();
  HttpClient busy = client();
  HttpClient idle = client();
  EXPECT_EQ(idle.get("/health").status, 200);
  busy.send_post(kChat, chat_body(R"(,"max_tokens":3)"));
  ASSERT_TRUE(engine.wait_live(1));
  server->stop_accepting();
  EXPECT_EQ(idle.read_all(), "");
  EXPECT_FALSE(server->wait_idle(std::chrono::milliseconds(0)));
  engine.release();
  EXPECT_EQ(busy.read_response().status, 200);
  EXPECT_TRUE(server->wait_idle(kPatience));
}

TEST_F(ServerTest, StopTellsThoseWhoStillWait) {
  start();
  engine.hold();
  HttpClient whole = client();
  whole.send_post(kChat, chat_body());
  HttpClient stream = client();
  stream.send_post(kChat, chat_body(R"(,"stream":true)"));
  ASSERT_TRUE(engine.wait_live(2));
  server->stop();
  expect_error(whole.read_response(), 503, nullptr, "service_unavailable");
  EXPECT_THAT(stream.read_response().events(), ::testing::Contains("[DONE]"));
  EXPECT_TRUE(engine.wait_live(0));
}

TEST_F(ServerTest, AnEngineThatStopsFirstIsNoTrouble) {
  start();
  engine.hold();
  HttpClient http = client();
  http.send_post(kChat, chat_body());
  ASSERT_TRUE(engine.wait_live(1));
  engine.stop();
  expect_error(http.read_response(), 503, nullptr, "service_unavailable");
  expect_error(client().post(kChat, chat_body()), 503, nullptr, "service_unavailable");
}

TEST_F(ServerTest, MetricsHaveVllmsNames) {
  start();
  engine.set_reply(fake_chat_answer("h", "a"));
  EXPECT_EQ(client().post(kChat, chat_body()).status, 200);
  const std::string text = client().get("/metrics").body;
  for (const char* line : {
           R"(vllm:num_requests_running{engine="0",model_name="fake-model"} 0)",
           R"(vllm:num_requests_waiting{engine="0",model_name="fake-model"} 0)",
           R"(vllm:kv_cache_usage_perc{engine="0",model_name="fake-model"} 0)",
           R"(vllm:prompt_tokens_total{engine="0",model_name="fake-model"})",
           R"(vllm:generation_tokens_total{engine="0",model_name="fake-model"})",
           R"(vllm:request_success_total{engine="0",model_name="fake-model",finished_reason="stop"})",
           R"(vllm:time_to_first_token_seconds_count{engine="0",model_name="fake-model"} 1)",
           R"(vllm:inter_token_latency_seconds_count{engine="0",model_name="fake-model"} 4)",
           R"(vllm:e2e_request_latency_seconds_count{engine="0",model_name="fake-model"} 1)",
           R"(vllm:cache_config_info{engine="0",model_name="fake-model",num_gpu_blocks="100"} 1)",
       }) {
    EXPECT_THAT(text, ::testing::HasSubstr(line));
  }
}

TEST_F(ServerTest, ANamelessServerIsRefused) {
  config.served_model_names.clear();
  const Result<std::unique_ptr<Server>> started =
      Server::start(config, engine, &tokenizer, &format);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().param, "served_model_names");
}

}  // namespace
}  // namespace rapt
