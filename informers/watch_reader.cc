#include "informers/watch_reader.h"

#include <algorithm>
#include <utility>

#include "informers/event_crowd.h"
#include "informers/give_way.h"
#include "informers/progress.h"
#include "informers/splitters.h"

namespace informers {
namespace {

using base::Error;
using base::ErrorCode;

// The frames of the stream as events.
class Frames {
 public:
  Frames(const base::Clock& clock, const WatchReading& reading)
      : clock_(clock),
        reading_(reading),
        skimmer_(reading.decoder.NewSkimmer()),
        splitter_(reading.max_object_bytes, &skimmer_) {}

  base::Result<void> Feed(std::string_view piece) {
    return splitter_.Feed(
        piece, [this](WireForm form, std::string_view frame) { return Take(form, frame); });
  }
  [[nodiscard]] bool AtBoundary() const { return splitter_.AtBoundary(); }
  [[nodiscard]] std::uint64_t events() const { return events_; }
  // The last error is what an ERROR event said.
  [[nodiscard]] bool server_said() const { return server_said_; }

 private:
  base::Result<void> Take(WireForm form, std::string_view frame) {
    const base::TimePoint began = clock_.Now();
    const auto event = reading_.decoder.Decode(form, frame, skimmer_, server_said_);
    if (!event) return event.error();
    ++events_;
    reading_.take(*event, began);
    return {};
  }

  const base::Clock& clock_;
  const WatchReading& reading_;
  json::Skimmer skimmer_;
  WatchSplitter splitter_;
  std::uint64_t events_ = 0;
  bool server_said_ = false;
};

}  // namespace

base::Task<WatchEnd> ReadWatch(base::Scheduler& scheduler, std::unique_ptr<http::BodyStream> body,
                               WatchReading reading) {
  Frames frames(scheduler, reading);
  EventCrowd crowd;
  WatchEnd end;
  const auto take = [&](std::string_view piece) { return frames.Feed(piece); };
  // Of the event that is being read.
  base::TimePoint due = reading.limit;
  for (;;) {
    const base::TimePoint now = scheduler.Now();
    if (now >= due && due < reading.limit) {
      end.phase = WatchEnd::Phase::kStuck;
      end.inside_event = true;
      end.error =
          Error{.code = ErrorCode::kTimeout,
                .message = "watch " + reading.name + ": an event was begun and not completed"};
      co_return end;
    }
    const base::TimePoint until = std::min(due, reading.limit);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - now);
    if (left <= std::chrono::milliseconds::zero()) co_return end;
    const auto idle = std::chrono::milliseconds(reading.idle_timeout);
    const auto bytes = co_await body->Read(std::min(left, idle));
    const bool stopping = co_await base::Stopping();
    if (stopping) co_return end;
    end.inside_event = !frames.AtBoundary();
    if (!bytes) {
      end.error = bytes.error();
      co_return end;
    }
    if (!*bytes) {
      if (!end.inside_event) co_return end;
      end.error = Error{.code = ErrorCode::kUnavailable,
                        .message = "watch " + reading.name + ": the stream ended inside an event"};
      co_return end;
    }
    const bool began = !std::exchange(end.inside_event, false);
    const std::uint64_t events = frames.events();
    const base::Result<void> fed = co_await TakeInPieces(**bytes, take);
    if (!fed) {
      end.error = fed.error().Wrap("watch " + reading.name);
      if (frames.server_said()) end.phase = WatchEnd::Phase::kEvent;
      co_return end;
    }
    if (frames.AtBoundary()) {
      due = reading.limit;
    } else if (began || frames.events() != events) {
      due = scheduler.Now() + Progress::kWithin;
    }
    const base::Duration pause =
        crowd.PauseAfter(scheduler.Now(), frames.events() - events, (*bytes)->size());
    if (pause > base::Duration::zero()) co_await scheduler.Sleep(pause);
  }
}

}  // namespace informers
