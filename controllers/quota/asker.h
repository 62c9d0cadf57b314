#pragma once

// Asks the server which objects it has, by lists of metadata. Single-threaded.

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
  };
  // Both must outlive it. `tracker` tells what the watches have shown.
  Asker(const TrackingContext& context, const Tracker& tracker)
      : context_(context), tracker_(tracker) {}

  // `lists` is keyed by the name of the resource. Ends at the deadline, even if an answer arrives
  // in small pieces.
  base::Task<Told> Ask(std::map<std::string, Lists> lists, base::TimePoint deadline);

 private:
  base::Task<base::Result<Listed>> AskAbout(Lists lists);

  const TrackingContext& context_;
  const Tracker& tracker_;
};

}  // namespace controllers
