#pragma once

// Pods that are created and deleted, many at a time, so that scenarios reach a limit.
//
// One thread; the counts may be read at any time.

#include <atomic>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/watch_follower.h"

namespace e2e {

class Crowd {
 public:
  explicit Crowd(Scenario& scenario) : scenario_(scenario) {}

  // From now on pods get the labels half=a and half=b in turn.
  void LabelHalves() { label_halves_ = true; }
  // Deletes half of the pods while it creates `more` others, in random order, `parallel` at a time.
  // Returns the outcomes of the creations.
  std::vector<Attempt> Round(int more, std::size_t parallel);
  // The names of existing pods.
  [[nodiscard]] std::vector<std::string> Names();

 private:
  json::Value Next();

  Scenario& scenario_;
  bool label_halves_ = false;
  std::mt19937_64 random_{7};
  int next_ = 0;
};

// Counts the objects of a collection at every moment, by the server's order of events.
class HeadCount {
 public:
  // REQUIRES: the collection at `path` is empty at `resource_version`.
  HeadCount(const std::string& kubeconfig, const std::string& path,
            const std::string& resource_version);
  ~HeadCount();
  // Returns when it has seen everything up to now, and `now` objects are left.
  void WaitFor(std::size_t now) const;
  [[nodiscard]] std::size_t most() const;

 private:
  class Notes;
  std::unique_ptr<Notes> notes_;
};

// The highest value so far of one name in a quota's status.used, a whole number.
class HighestUsed {
 public:
  HighestUsed(Scenario& s, const std::string& quota, std::string name);
  // For a quota of another API: its collection, and its current version.
  HighestUsed(const std::string& kubeconfig, const std::string& path, const json::Value& quota,
              std::string name);
  [[nodiscard]] double highest() const { return highest_; }

 private:
  std::string name_;
  std::atomic<double> highest_{0};
  WatchFollower follower_;
};

}  // namespace e2e
