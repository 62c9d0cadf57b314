#pragma once

// What is asked about size and speed, beside what tests/bench/controller_bench and admission_bench
// ask on a real server. Each question starts what it needs, prints its answer in Markdown with the
// target beside each number, and says on stderr what it is doing.

#include <string>

namespace bench {

struct Scale {
  int most_objects = 1'000'000;  // of the memory curve
  int pods = 50'000;             // in the namespace of a new quota
  int events = 300'000;          // of a burst
  int seconds = 60;              // of churn
  int quotas = 50'000;           // that are recounted
  std::string out;               // a folder for plots; "": none
};

// How much memory do 10³ … 10⁶ pods need, and 100 000 pods beside as many other objects?
void AskMemoryOfObjects(const Scale& scale);
// How long until a new quota in a namespace with many pods is counted, and one whose scope changed?
void AskNewQuota(const Scale& scale);
// Very many watch events at once: what becomes of memory, and of who is waiting to be admitted?
void AskBurst(const Scale& scale);
// Everything that concerns all of very many quotas: for how long does one piece of work hold the
// event loop?
void AskRecounts(const Scale& scale);
// What does a resync of pods that did not change cost?
void AskResync(const Scale& scale);
// 500 creations and deletions a second under one quota: how far behind is `used`, at what cost?
void AskChurn(const Scale& scale);

}  // namespace bench
