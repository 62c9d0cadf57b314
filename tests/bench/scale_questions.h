#pragma once

// Questions about size and speed that need no real server; controller_bench.cc and
// admission_bench.cc ask theirs on a real one. Each question starts what it needs, prints its
// answer in Markdown with the target beside each number, and writes its progress to stderr.

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
// Very many watch events at once: what happens to memory, and to requests that wait for admission?
void AskBurst(const Scale& scale);
// Work that concerns all of very many quotas: how long does one piece of it occupy the event loop?
void AskRecounts(const Scale& scale);
// One ClusterQuota over 10 000 namespaces: what do its objects need in memory, an event and a
// recount in CPU time, and the start?
void AskGroups(const Scale& scale);
// What do 100 UsageDefinitions with 100 000 custom objects of 20 kB need in memory, an event in CPU
// time, and the start beside a bare download?
void AskDefinitions(const Scale& scale);
// What does a resync of unchanged pods cost?
void AskResync(const Scale& scale);
// 500 creations and deletions a second under one quota: how far does `used` lag, at what cost?
void AskChurn(const Scale& scale);

}  // namespace bench
