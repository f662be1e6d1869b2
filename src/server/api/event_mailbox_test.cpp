#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "server/api/event_mailbox_internal.h"

namespace rapt {
namespace {

TokenEvent event_of(RequestId id, int choice = 0) {
  TokenEvent event;
  event.request_id = id;
  event.choice = choice;
  return event;
}

TEST(EventMailbox, WakesOnlyWhenItWasEmpty) {
  int num_wake_ups = 0;
  EventMailbox mailbox([&] { ++num_wake_ups; });
  mailbox.on_event(event_of(1));
  mailbox.on_event(event_of(2));
  EXPECT_EQ(num_wake_ups, 1);
  std::vector<TokenEvent> events;
  mailbox.take(events);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[1].request_id, 2U);
  mailbox.on_event(event_of(3));
  EXPECT_EQ(num_wake_ups, 2);
}

TEST(EventMailbox, ClosedItDropsEventsAndItsTies) {
  const auto tie = std::make_shared<int>(0);
  EventMailbox mailbox([tie] {});
  EXPECT_EQ(tie.use_count(), 2);
  mailbox.close();
  EXPECT_EQ(tie.use_count(), 1);
  mailbox.on_event(event_of(1));
  std::vector<TokenEvent> events;
  mailbox.take(events);
  EXPECT_TRUE(events.empty());
  mailbox.close();
}

TEST(EventMailbox, NothingIsLostBetweenTwoThreads) {
  constexpr int kNumEvents = 10000;
  std::atomic<int> num_wake_ups = 0;
  EventMailbox mailbox([&] { ++num_wake_ups; });
  std::thread engine([&] {
    for (int i = 0; i < kNumEvents; ++i) {
      mailbox.on_event(event_of(1, i));
    }
  });
  std::vector<TokenEvent> events;
  int next = 0;
  while (next < kNumEvents) {
    mailbox.take(events);
    for (const TokenEvent& event : events) {
      ASSERT_EQ(event.choice, next);
      ++next;
    }
  }
  engine.join();
  EXPECT_GE(num_wake_ups.load(), 1);
}

}  // namespace
}  // namespace rapt
