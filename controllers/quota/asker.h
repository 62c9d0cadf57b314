#pragma once

// Asks the server which objects it has, by lists of metadata. A kind whose lists hang, because of
// its aggregated server or its conversion webhook, does not keep the workers of a controller from
// other quotas.
//
// Single-threaded.

#include <chrono>
#include <cstddef>
#include <list>
#include <map>
#include <string>

#include "controllers/quota/questions.h"
#include "controllers/usage/tracker.h"

namespace controllers {

class Asker {
 public:
  struct Told {
    Answers answers;
    std::string trouble;  // why a resource has no answer; "": all have one
    bool busy = false;    // nothing was asked: too many questions wait for their answers
  };
  static constexpr std::size_t kMostAtOnce = 3;  // questions; a controller has five workers
  // A question waits for its turn as long as all others in progress are younger than this.
  static constexpr std::chrono::seconds kHangs{1};
  // A resource that gave no answer in time is not asked for this time, then by one question.
  static constexpr std::chrono::seconds kRests{2};
  // Both must outlive it. `tracker` tells what the watches have shown.
  Asker(const TrackingContext& context, const Tracker& tracker)
      : context_(context), tracker_(tracker) {}

  // `lists` is keyed by the name of the resource. Ends `patience` after it was asked, even if an
  // answer arrives in small pieces.
  base::Task<Told> Ask(std::map<std::string, Lists> lists, base::Duration patience);
  // Ends the questions in progress. Nothing is asked any more.
  void Stop();

 private:
  // A question in progress.
  struct Asking {
    base::TimePoint since;
    base::Alarm* alarm = nullptr;
  };

  // Waits for the turn of a question. False: others hang, or it stops.
  base::Task<bool> AwaitTurn();
  // True if the resource may be asked, until `deadline`.
  bool MayAsk(const std::string& resource, base::TimePoint deadline);
  base::Task<base::Result<Listed>> AskAbout(Lists lists);

  const TrackingContext& context_;
  const Tracker& tracker_;
  std::list<Asking> asking_;  // the oldest first
  // The resources that gave no answer in time: until then they are left alone.
  std::map<std::string, base::TimePoint> resting_;
  bool stopped_ = false;
};

}  // namespace controllers
