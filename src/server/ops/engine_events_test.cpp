#include <chrono>
#include <thread>

#include "server/ops/engine_events_internal.h"
#include "server/ops/engine_frames_internal.h"
#include "server/testing/server_test_internal.h"

namespace rapt {
namespace {

constexpr const char* kEvents = "/v1/engine/events";

class EngineEventsTest : public ServerTest {
 protected:
  static void send_get(HttpClient& http) {
    http.send(std::string("GET ") + kEvents + " HTTP/1.1\r\nhost: a\r\n\r\n");
  }

  // The data of the next event; comments are passed over.
  static json::value next_event(HttpClient& http) {
    std::string text;
    std::size_t begin = std::string::npos;
    do {
      text = http.read_until("\n\n");
      begin = text.rfind("data: ");
    } while (begin == std::string::npos && text.ends_with("\n\n"));
    if (begin == std::string::npos) {
      ADD_FAILURE() << "no event comes";
      return nullptr;
    }
    return parse_json(text.substr(begin + 6), "the event").value();
  }

  // The next event in which the value at `path` is `wanted`.
  static json::value wait_for(
      HttpClient& http, const std::string& path, const json::value& wanted
  ) {
    json::value event;
    for (int attempt = 0; attempt < 100 && !HasFailure(); ++attempt) {
      event = next_event(http);
      if (at(event, path) == wanted) {
        return event;
      }
    }
    ADD_FAILURE() << path << " is never " << to_json_text(wanted);
    return nullptr;
  }
};

TEST_F(EngineEventsTest, TheFirstEventSaysWhatTheEngineIs) {
  start();
  HttpClient http = client();
  send_get(http);
  const json::value hello = next_event(http);
  EXPECT_EQ(at(hello, "type"), "hello");
  EXPECT_EQ(at(hello, "model"), "fake-model");
  EXPECT_EQ(at(hello, "version"), "1.2.3");
  EXPECT_EQ(at(hello, "memory/weight_bytes"), std::uint64_t{3} << 30);
  EXPECT_EQ(at(hello, "kv/groups/1/window"), 128);
  EXPECT_EQ(at(hello, "second_fields/0"), "second");
  const json::value state = next_event(http);
  EXPECT_EQ(at(state, "type"), "state");
  EXPECT_EQ(at(state, "num_running"), 0);
  EXPECT_EQ(at(state, "kv/0/cells"), (json::array{0, 0, 64}));
}

TEST_F(EngineEventsTest, RequestsComeAndGo) {
  start();
  HttpClient watcher = client();
  send_get(watcher);
  wait_for(watcher, "type", "state");
  engine.hold();
  HttpClient asker = client();
  asker.send_post("/v1/chat/completions", chat_body(R"(,"max_tokens":4)"));
  const json::value busy = wait_for(watcher, "num_running", 1);
  EXPECT_EQ(at(busy, "running/0/phase"), "decode");
  EXPECT_EQ(at(busy, "running/0/wait"), nullptr);
  EXPECT_EQ(at(busy, "running/0/max_output_tokens"), 4);
  EXPECT_EQ(at(busy, "kv/0/cells"), (json::array{1, 1, 1, 0, 0, 63}));
  engine.release();
  EXPECT_EQ(asker.read_response().status, 200);
  wait_for(watcher, "num_running", 0);
}

TEST_F(EngineEventsTest, EveryWatcherIsShownThePresent) {
  start();
  engine.hold();
  HttpClient asker = client();
  asker.send_post("/v1/chat/completions", chat_body());
  ASSERT_TRUE(engine.wait_live(1));
  for (int count = 0; count < 2; ++count) {
    HttpClient watcher = client();
    send_get(watcher);
    wait_for(watcher, "num_running", 1);
  }
  engine.release();
}

TEST_F(EngineEventsTest, AnIdleEngineIsSilent) {
  config.sse_keep_alive = std::chrono::milliseconds(30);
  start();
  HttpClient watcher = client();
  send_get(watcher);
  wait_for(watcher, "type", "state");
  // Comments keep coming, and nothing between them; a period is many of them.
  for (int count = 0; count < 20; ++count) {
    EXPECT_THAT(watcher.read_until("\n\n"), ::testing::Not(::testing::HasSubstr("data:")));
  }
}

TEST_F(EngineEventsTest, StreamsEndWhenTheServerDoes) {
  start();
  HttpClient watcher = client();
  send_get(watcher);
  next_event(watcher);
  server->stop_accepting();
  EXPECT_TRUE(server->wait_idle(std::chrono::seconds(20))) << "a watcher holds up the end";
  EXPECT_TRUE(watcher.read_all().ends_with("0\r\n\r\n"));
}

TEST_F(EngineEventsTest, WatchersThatLeaveAreForgotten) {
  start();
  for (std::size_t count = 0; count < EngineEvents::kMaxWatchers + 20; ++count) {
    HttpClient watcher = client();
    send_get(watcher);
    EXPECT_EQ(at(next_event(watcher), "type"), "hello") << count;
    watcher.close();
  }
}

TEST(EngineFrames, SecondsAreInTheOrderOfTheirFields) {
  EngineSnapshot snapshot;
  snapshot.now = 7;
  snapshot.seconds.push_back(
      {.second = 6,
       .num_steps = 1,
       .num_prompt_tokens = 2,
       .num_generated_tokens = 3,
       .num_first_tokens = 4,
       .num_gaps = 5,
       .first_token_seconds = 0.25,
       .gap_seconds = 1.0 / 3.0,
       .max_gap_seconds = 0.5,
       .num_running = 8,
       .num_waiting = 9}
  );
  const std::string text = engine_state_text(EngineStats(), snapshot);
  EXPECT_THAT(text, ::testing::HasSubstr(R"("seconds":[[6,1,2,3,4,0.25,5,0.333333,0.5,8,9]])"));
  EXPECT_EQ(stamp_state_text(text, 7), "{\"now\":7," + text.substr(1));
}

TEST(EngineFrames, AStepTellsWhatItMayHave) {
  EngineSnapshot snapshot;
  snapshot.step = {.num_tokens = 40, .num_prompt_tokens = 33, .num_sampled = 7, .max_tokens = 44};
  EXPECT_THAT(
      engine_state_text(EngineStats(), snapshot),
      ::testing::HasSubstr(R"("tokens":40,"prompt_tokens":33,"max_tokens":44,"sampled":7)")
  );
}

TEST(EngineFrames, ReasonsAndPhasesHaveNames) {
  EngineSnapshot snapshot;
  snapshot.running.push_back({.client_id = "a", .phase = SequencePhase::kPrefill});
  snapshot.waiting.push_back({.client_id = "b", .wait = WaitReason::kBlocks});
  snapshot.waiting.push_back({.client_id = "c", .wait = WaitReason::kOthers});
  const std::string text = engine_state_text(EngineStats(), snapshot);
  EXPECT_THAT(text, ::testing::HasSubstr(R"("phase":"prefill","wait":null)"));
  EXPECT_THAT(text, ::testing::HasSubstr(R"("phase":"waiting","wait":"blocks")"));
  EXPECT_THAT(text, ::testing::HasSubstr(R"("wait":"others")"));
}

}  // namespace
}  // namespace rapt
