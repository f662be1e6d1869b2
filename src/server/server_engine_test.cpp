// The server over the real engine and a tiny random model: clients come and go, and every KV block
// comes back. server_test.cpp has all that needs no model.

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "engine/engine.h"
#include "models/model.h"
#include "server/server.h"
#include "server/testing/fake_text_internal.h"
#include "server/testing/http_client_internal.h"
#include "support/checkpoint_files.h"
#include "support/tiny_gpt_oss.h"

namespace rapt {
namespace {

class ServerEngineTest : public ::testing::Test {
 protected:
  ServerEngineTest() : format(tokenizer) {
    rapt::testing::write_tiny_gpt_oss(
        folder.path(), {.num_layers = 2, .vocab_size = 300, .max_positions = 128}
    );
    Result<std::unique_ptr<Model>> model = load_model(folder.path());
    EXPECT_TRUE(model) << model.error().message;
    EngineConfig engine_config;
    engine_config.num_threads = 2;
    engine_config.max_num_seqs = 8;
    engine_config.max_num_batched_tokens = 64;
    engine_config.kv_cache_bytes = 4 << 20;
    Result<std::unique_ptr<Engine>> created =
        Engine::create(engine_config, std::move(model).value());
    EXPECT_TRUE(created) << created.error().message;
    engine = std::move(created).value();
    engine->start();
    ServerConfig config;
    config.port = 0;
    config.served_model_names = {"tiny"};
    Result<std::unique_ptr<Server>> started = Server::start(config, *engine, &tokenizer, &format);
    EXPECT_TRUE(started) << started.error().message;
    server = std::move(started).value();
  }

  HttpClient client() const { return HttpClient(server->port()); }

  // Waits, without a clock of its own, for the engine to honour the last cancels.
  EngineStats stats_when_idle() const {
    while (!engine->is_idle()) {
      std::this_thread::yield();
    }
    return engine->stats();
  }

  rapt::testing::TempFolder folder;
  FakeTokenizer tokenizer;
  FakeChatFormat format;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Server> server;
};

TEST_F(ServerEngineTest, HalfOfTheClientsLeaveAndAllBlocksComeBack) {
  constexpr int kNumClients = 32;
  std::vector<std::thread> clients;
  std::atomic<int> num_complete = 0;
  for (int client_idx = 0; client_idx < kNumClients; ++client_idx) {
    clients.emplace_back([&, client_idx] {
      HttpClient http = client();
      const bool streams = client_idx % 4 < 2;
      const bool leaves = client_idx % 2 == 0;
      const std::string body = R"({"prompt":"some prompt","ignore_eos":true,"max_tokens":40,"n":)" +
                               std::to_string(1 + client_idx % 3) +
                               (streams ? R"(,"stream":true})" : "}");
      http.send_post("/v1/completions", body);
      if (leaves) {
        if (streams) {
          http.read_until("data: ");
        }
        http.close(client_idx % 8 < 4);
      } else if (http.read_response().status == 200) {
        ++num_complete;
      }
    });
  }
  for (std::thread& thread : clients) {
    thread.join();
  }
  EXPECT_EQ(num_complete.load(), kNumClients / 2);
  ASSERT_TRUE(server->wait_idle(std::chrono::seconds(60)));
  const EngineStats stats = stats_when_idle();
  EXPECT_EQ(stats.num_blocks_used, 0);
  EXPECT_EQ(stats.num_running, 0);
  EXPECT_EQ(stats.num_waiting, 0);
}

TEST_F(ServerEngineTest, StreamedEqualsWhole) {
  const std::string body =
      R"({"prompt":"abc","seed":5,"max_tokens":24,"ignore_eos":true,"return_token_ids":true)";
  const json::value whole = client().post("/v1/completions", body + "}").json();
  json::array streamed;
  for (const std::string& event :
       client().post("/v1/completions", body + R"(,"stream":true})").events()) {
    if (event != "[DONE]") {
      const json::value chunk = parse_json(event, "event").value();
      for (const json::value& id :
           chunk.at("choices").as_array().at(0).at("token_ids").as_array()) {
        streamed.push_back(id);
      }
    }
  }
  EXPECT_EQ(whole.at("choices").as_array().at(0).at("token_ids"), json::value(streamed));
  EXPECT_EQ(streamed.size(), 24U);
}

TEST_F(ServerEngineTest, StoppingInTheMiddleOfEverythingIsClean) {
  std::vector<std::thread> clients;
  std::atomic<int> num_begun = 0;
  for (int client_idx = 0; client_idx < 8; ++client_idx) {
    clients.emplace_back([&] {
      HttpClient http = client();
      http.send_post(
          "/v1/completions", R"({"prompt":"x","ignore_eos":true,"max_tokens":100,"stream":true})"
      );
      http.read_until("data: ");
      ++num_begun;
      http.read_all();
    });
  }
  while (num_begun.load() == 0) {
    std::this_thread::yield();
  }
  server->stop();
  for (std::thread& thread : clients) {
    thread.join();
  }
  EXPECT_EQ(stats_when_idle().num_blocks_used, 0);
}

}  // namespace
}  // namespace rapt
