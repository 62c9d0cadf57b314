#pragma once

// The load of a soak: sends the world's next requests at a fixed rate, from its own thread. While
// it is paused, the caller may use the world.

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "tests/bench/soak_world.h"

namespace bench {

class SoakLoad {
 public:
  // It begins paused.
  SoakLoad(std::string kubeconfig, SoakWorld& world, int per_second);
  ~SoakLoad();
  SoakLoad(const SoakLoad&) = delete;
  SoakLoad& operator=(const SoakLoad&) = delete;

  void Pause();  // returns when no request is running
  void Resume();
  [[nodiscard]] int succeeded() const { return succeeded_; }
  [[nodiscard]] int refused() const { return refused_; }  // by quota
  [[nodiscard]] int failed() const { return failed_; }    // other requests, because of faults

 private:
  void Run();

  std::string kubeconfig_;
  SoakWorld& world_;
  int per_tick_;
  std::atomic<int> succeeded_{0};
  std::atomic<int> refused_{0};
  std::atomic<int> failed_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool paused_ = true;  // guarded by mutex_, as the next two
  bool idle_ = true;
  bool stop_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace bench
