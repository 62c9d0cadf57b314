#pragma once

// Reads the events of one open watch until its stream ends, for whatever reason. Frequent events
// are read together (event_crowd.h), and other coroutines run in between (give_way.h). One thread.

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "informers/reflector_fsm.h"
#include "informers/watch_event.h"
#include "pkg/base/scheduler.h"
#include "pkg/client/api_client.h"

namespace informers {

struct WatchReading {
  const WatchEventDecoder& decoder;
  std::string name;                     // of the resource, for errors
  std::size_t max_object_bytes = 0;     // a larger event is an error
  std::chrono::seconds idle_timeout{};  // a stream may be silent for so long
  base::TimePoint limit;                // it ends then at the latest
  // Called for each event when it was decoded, with the time when that began.
  std::function<void(const WatchEvent& event, base::TimePoint began)> take;
};

// Returns how it ended, without WatchEnd::lasted. `scheduler`, and what `reading` refers to, must
// outlive the call.
base::Task<WatchEnd> ReadWatch(base::Scheduler& scheduler, std::unique_ptr<http::BodyStream> body,
                               WatchReading reading);

}  // namespace informers
