#pragma once

// Pods that come and go, many at a time: how scenarios press against a limit.
//
// One thread; what is counted may be asked at any time.

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

  // Pods are labelled half=a and half=b in turn from now on.
  void LabelHalves() { label_halves_ = true; }
  // Half of the pods go while `more` others are asked for, in random order, `parallel` at a time.
  // What became of those that were asked for.
  std::vector<Attempt> Round(int more, std::size_t parallel);
  // Those that exist.
  [[nodiscard]] std::vector<std::string> Names();

 private:
  json::Value Next();

  Scenario& scenario_;
  bool label_halves_ = false;
  std::mt19937_64 random_{7};
  int next_ = 0;
};

// How many objects a collection held at every moment, by the server's own order of events.
class HeadCount {
 public:
  // REQUIRES: the collection at `path` is empty at `resource_version`.
  HeadCount(const std::string& kubeconfig, const std::string& path,
            const std::string& resource_version);
  ~HeadCount();
  // Returns when it has seen all that was done until now, and `now` objects are left.
  void WaitFor(std::size_t now) const;
  [[nodiscard]] std::size_t most() const;

 private:
  class Notes;
  std::unique_ptr<Notes> notes_;
};

// The highest that one name of a quota's status.used, a whole number, ever was.
class HighestUsed {
 public:
  HighestUsed(Scenario& s, const std::string& quota, std::string name);
  // Of a quota of another API: the collection it is in, and its version now.
  HighestUsed(const std::string& kubeconfig, const std::string& path, const json::Value& quota,
              std::string name);
  [[nodiscard]] double highest() const { return highest_; }

 private:
  std::string name_;
  std::atomic<double> highest_{0};
  WatchFollower follower_;
};

}  // namespace e2e
