// How many bytes of resident memory does the ledger need for each object, and how many nanoseconds
// for an event? Prints both for 10^6 pods of ten workloads: in one namespace, in ten thousand, and
// in ten thousand namespaces that are in one group or in five. Also prints the cost of a sum, of a
// sweep that finds nothing, of moving a namespace, and of removing the objects.
//
// ledger_bytes_per_object [objects]

#include <malloc.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "pkg/quota/ledger.h"

namespace {

using quota::Quantity;
using quota::Uid;

quota::ObjectFacts Workload(std::uint64_t number) {
  const Quantity cpu = Quantity::FromInt(static_cast<std::int64_t>(number) + 1);
  quota::ObjectFacts facts;
  facts.now.usage = {{"count/pods", Quantity::FromInt(1)},
                     {"cpu", cpu},
                     {"limits.cpu", cpu},
                     {"limits.memory", cpu},
                     {"memory", cpu},
                     {"pods", Quantity::FromInt(1)},
                     {"requests.cpu", cpu},
                     {"requests.memory", cpu}};
  facts.now.attributes = {{"NotBestEffort", ""}, {"NotTerminating", ""}};
  return facts;
}

std::size_t AllocatedBytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

class Stopwatch {
 public:
  [[nodiscard]] double NanosEach(std::size_t times) const {
    const auto passed = std::chrono::steady_clock::now() - start_;
    return std::chrono::duration<double, std::nano>(passed).count() / static_cast<double>(times);
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

struct Objects {
  std::vector<Uid> uids;
  std::vector<std::string> namespaces;
  [[nodiscard]] const std::string& NamespaceOf(std::size_t i) const {
    return namespaces[i % namespaces.size()];
  }
};

Objects MakeObjects(std::size_t objects, std::size_t namespaces) {
  std::mt19937_64 random(1);
  Objects made;
  for (std::size_t i = 0; i < objects; ++i) made.uids.push_back({random()});
  for (std::size_t i = 0; i < namespaces; ++i)
    made.namespaces.push_back("team-" + std::to_string(i));
  return made;
}

void MeasureGroups(const Objects& objects, std::vector<std::string> names, quota::Ledger& ledger) {
  const quota::Space all{.group = names[0]};
  const Stopwatch sum;
  const auto used = ledger.Sum(all, {}, {}, {"cpu", "pods", "requests.memory"});
  std::printf("  group    %6.0f ns a sum (%s)\n", sum.NanosEach(1),
              used ? used->ToString().c_str() : used.error().message.c_str());
  std::vector<std::string> others = names;
  others.back() = "other";
  const Stopwatch move;
  for (const std::string& ns : objects.namespaces) ledger.SetGroups(ns, others);
  std::printf("  move     %6.0f ns a namespace\n", move.NanosEach(objects.namespaces.size()));
}

// How many groups each namespace is in.
void Measure(const Objects& objects, std::size_t groups) {
  const std::size_t count = objects.uids.size();
  std::vector<quota::ObjectFacts> workloads;
  for (std::uint64_t i = 0; i < 10; ++i) workloads.push_back(Workload(i));
  const std::size_t before = AllocatedBytes();
  quota::Ledger ledger;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < groups; ++i) names.push_back("group-" + std::to_string(i));
  for (const std::string& ns : objects.namespaces) ledger.SetGroups(ns, names);
  const auto set_all = [&](std::size_t shift) {
    const Stopwatch watch;
    for (std::size_t i = 0; i < count; ++i) {
      ledger.Set(objects.NamespaceOf(i), objects.uids[i], workloads[(i + shift) % 10]);
    }
    return watch.NanosEach(count);
  };
  std::printf("%zu objects in %zu namespaces, each in %zu groups\n", count,
              objects.namespaces.size(), groups);
  std::printf("  add      %6.0f ns an event\n", set_all(0));
  std::printf("  bytes    %6.1f an object\n",
              static_cast<double>(AllocatedBytes() - before) / static_cast<double>(count));
  std::printf("  change   %6.0f ns an event\n", set_all(1));
  ledger.BeginSweep();
  std::printf("  same     %6.0f ns an event\n", set_all(1));
  const Stopwatch sweep;
  const std::size_t removed = ledger.EndSweep().size();
  std::printf("  sweep    %6.1f ns an object (%zu removed)\n", sweep.NanosEach(count), removed);
  const Stopwatch sum;
  const auto used =
      ledger.Sum({.ns = objects.namespaces[0]}, {}, {}, {"cpu", "pods", "requests.memory"});
  std::printf("  sum      %6.0f ns (%s)\n", sum.NanosEach(1),
              used ? used->ToString().c_str() : used.error().message.c_str());
  if (groups > 0) MeasureGroups(objects, names, ledger);
  const Stopwatch remove;
  for (std::size_t i = 0; i < count; ++i) ledger.Remove(objects.NamespaceOf(i), objects.uids[i]);
  std::printf("  remove   %6.0f ns an event (%zu left)\n", remove.NanosEach(count), ledger.size());
}

}  // namespace

int main(int argc, char** argv) {
  const long objects = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 1'000'000;
  if (objects <= 0) {
    std::fprintf(stderr, "usage: ledger_bytes_per_object [objects], at least 1\n");
    return 2;
  }
  Measure(MakeObjects(static_cast<std::size_t>(objects), 1), 0);
  const Objects scattered = MakeObjects(static_cast<std::size_t>(objects), 10'000);
  for (const std::size_t groups : {0, 1, 5}) Measure(scattered, groups);
  return 0;
}
