#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/http/deferred_responder_internal.h"

namespace rapt {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Notes what is done to it; posted tasks run when the test says so.
class NotingResponder final : public Responder {
 public:
  void send(HttpReply reply) override { notes.push_back("send " + reply.body); }

  void begin_event_stream(std::chrono::milliseconds keep_alive) override {
    notes.push_back("begin " + std::to_string(keep_alive.count()));
  }

  void write(std::string_view events) override { notes.push_back("write " + std::string(events)); }

  void end_stream() override { notes.push_back("end"); }

  std::size_t num_buffered_bytes() const override { return 7; }

  void on_drained(std::function<void()> callback) override { callback(); }

  void on_disconnect(std::function<void()> callback) override { callback(); }

  void post(std::function<void()> task) override { posted.push_back(std::move(task)); }

  void run_posted() {
    for (const auto& task : std::exchange(posted, {})) {
      task();
    }
  }

  std::vector<std::string> notes;
  std::vector<std::function<void()>> posted;
};

class DeferredResponderTest : public ::testing::Test {
 protected:
  std::function<void()> note(const std::string& text) {
    return [this, text] { target->notes.push_back(text); };
  }

  std::shared_ptr<NotingResponder> target = std::make_shared<NotingResponder>();
  DeferredResponder responder{target};
};

TEST_F(DeferredResponderTest, KeepsWhatAHandlerDoesUntilItHasReturned) {
  responder.on_disconnect(note("gone"));
  responder.begin_event_stream(std::chrono::milliseconds(5));
  responder.write("a");
  responder.on_drained(note("drained"));
  responder.end_stream();
  responder.send({.body = "reply"});
  EXPECT_EQ(responder.num_buffered_bytes(), 0U);
  EXPECT_THAT(target->posted, IsEmpty());
  responder.release();
  EXPECT_THAT(target->notes, IsEmpty());
  target->run_posted();
  EXPECT_THAT(
      target->notes, ElementsAre("gone", "begin 5", "write a", "drained", "end", "send reply")
  );
}

TEST_F(DeferredResponderTest, PostedTasksComeAfterTheHandler) {
  responder.post([this] { responder.write("later"); });
  responder.begin_event_stream(std::chrono::milliseconds(5));
  responder.release();
  responder.post([this] { responder.write("last"); });
  target->run_posted();
  EXPECT_THAT(target->notes, ElementsAre("begin 5", "write later", "write last"));
}

TEST_F(DeferredResponderTest, PassesEverythingOnAfterwards) {
  responder.release();
  responder.on_disconnect(note("gone"));
  responder.begin_event_stream(std::chrono::milliseconds(5));
  responder.write("a");
  responder.on_drained(note("drained"));
  responder.end_stream();
  responder.send({.body = "reply"});
  EXPECT_EQ(responder.num_buffered_bytes(), 7U);
  EXPECT_THAT(
      target->notes, ElementsAre("gone", "begin 5", "write a", "drained", "end", "send reply")
  );
}

TEST_F(DeferredResponderTest, LetsGoOfWhatItKept) {
  const auto kept = std::make_shared<int>(0);
  responder.on_disconnect([kept] {});
  responder.post([kept] {});
  EXPECT_EQ(kept.use_count(), 3);
  responder.release();
  target->run_posted();
  EXPECT_EQ(kept.use_count(), 1);
}

}  // namespace
}  // namespace rapt
