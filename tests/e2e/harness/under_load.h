#pragma once

// A namespace at the limits of its quota "q", in which pods are created and deleted all the time,
// and many creations are refused: the background load of fault scenarios. Requests may fail during
// a fault. The load fails the test if a quota is ever exceeded, or if its usage is still wrong some
// time after the fault.
//
// The load runs on its own thread. The functions may be called from the test's thread. They throw
// if something is wrong.

#include <memory>
#include <string>

#include "tests/e2e/harness/scenario.h"

namespace e2e {

class UnderLoad {
 public:
  static constexpr std::size_t kPods = 12;  // the limit

  // Creates the quota; the load begins when it is enforced.
  explicit UnderLoad(Scenario& scenario);
  ~UnderLoad();
  UnderLoad(const UnderLoad&) = delete;
  UnderLoad& operator=(const UnderLoad&) = delete;

  // Returns when so many more creations were admitted, or refused by quota.
  void AwaitDecided(int more, std::chrono::milliseconds timeout = Patience());
  // Pauses the load if it runs. Within 15 s used must equal what exists, or within 45 s if a
  // reservation was made after a long outage. Neither pods nor used may ever have exceeded the
  // limits, by the order in which they were stored.
  void ExpectTrue();
  void Pause();  // no request is running when it returns
  void Resume();
  // Deletes pods of the load one by one; those that cannot be deleted stay.
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
