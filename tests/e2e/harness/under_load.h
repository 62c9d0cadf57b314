#pragma once

// A namespace at the limits of its quota "q", in which pods are made and deleted all the time, many
// of them in vain: what scenarios of faults have running beside them. Whatever fails on the way is
// what a client would see, and is borne; what may not be is a quota that is passed, or one that
// does not show the truth soon after the trouble is over.
//
// The load lives on a thread of its own. The functions may be called from the test's thread; they
// throw what is wrong.

#include <memory>
#include <string>

#include "tests/e2e/harness/scenario.h"

namespace e2e {

class UnderLoad {
 public:
  static constexpr std::size_t kPods = 12;  // the limit

  // Makes the quota; the load begins when it is enforced.
  explicit UnderLoad(Scenario& scenario);
  ~UnderLoad();
  UnderLoad(const UnderLoad&) = delete;
  UnderLoad& operator=(const UnderLoad&) = delete;

  // Returns when so many more creations were admitted or refused, by quota.
  void AwaitDecided(int more, std::chrono::milliseconds timeout = Patience());
  // Interrupts the load, if it goes on: within 15 s used is what is there, and neither pods nor
  // used ever were more than the limits, by the order in which they were stored.
  void ExpectTrue();
  void Pause();  // nothing is under way when it returns
  void Resume();
  // Of the load, deleted one by one; those that could not be stay.
  void DeleteSome(std::size_t count);

  [[nodiscard]] int admitted() const;
  [[nodiscard]] int refused() const;
  [[nodiscard]] int undecided() const;
  [[nodiscard]] std::string last_failure() const;

 private:
  class Thread;
  class Watched;
  [[nodiscard]] std::size_t CountPods();
  void CheckTrue();

  Scenario& scenario_;
  bool paused_ = false;
  std::unique_ptr<Watched> watched_;
  std::unique_ptr<Thread> thread_;
};

}  // namespace e2e
