#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/engine.h"
#include "server/http/responder_internal.h"

namespace rapt {

// GET /v1/engine/events: shows the engine to whoever looks on. One thread looks at the engine a few
// times a second while there are watchers, and sleeps otherwise; a watcher gets an event only when
// something has changed, and none while it has not taken the last one. So an idle engine that is
// being watched costs next to nothing, and the connections' threads only hand over text.
class EngineEvents {
 public:
  // `engine` must outlive this. `model` and `version` are what the stream says of itself.
  EngineEvents(const Engine& engine, std::string model, std::string version);
  ~EngineEvents();

  // Starts a stream on `responder`, on whose thread of execution this is called, or refuses.
  void add(const std::shared_ptr<Responder>& responder, std::chrono::milliseconds keep_alive);

  // Ends all streams, soon. Later ones are refused. Idempotent, any thread.
  void close();

  int num_watchers() const;

  static constexpr std::chrono::milliseconds kPeriod{250};
  static constexpr std::size_t kMaxWatchers = 100;

 private:
  using ResponderPtr = std::shared_ptr<Responder>;

  void run();
  // The next event, or nothing when nothing has changed.
  std::string next_event();
  // On the watcher's thread of execution.
  void show_latest(Responder& watcher);
  void remove(const Responder* responder);

  const Engine& engine_;
  const std::string model_;
  const std::string version_;

  // The watching thread's.
  std::string last_text_;
  std::int64_t last_second_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<ResponderPtr> watchers_;
  std::string latest_;         // the last event
  bool has_newcomer_ = false;  // who must be shown the present state
  bool is_closed_ = false;
  std::thread thread_;
};

}  // namespace rapt
