#pragma once

// The only way to start a coroutine that nobody awaits. A TaskGroup names its tasks, can ask all of
// them to stop, and can be waited for; it must be empty when it is destroyed. A task that ends by
// an exception is a bug and ends the process, except for the one that a cancellation raises.
//
// Single-threaded: belongs to its executor's thread.

#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "pkg/base/asio.h"

namespace base {

class TaskGroup {
 public:
  explicit TaskGroup(asio::any_io_executor executor);
  ~TaskGroup();  // REQUIRES: empty()
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  // Starts `task()` on the executor, never within this call; a task that is cancelled before does
  // not run at all. The callable, and what it captures, lives until the task ends.
  void Spawn(std::string name, std::function<Task<void>()> task);
  // Asks every running task to stop: its waits end early. Does not wait.
  void Cancel();
  // Returns when no task is left, those that were spawned meanwhile included; also where the joiner
  // is cancelled. At most one joiner.
  Task<void> Join();
  [[nodiscard]] bool empty() const { return running_.empty(); }
  [[nodiscard]] std::size_t size() const { return running_.size(); }

 private:
  struct Running;
  void Finish(const std::shared_ptr<Running>& task, const std::exception_ptr& error);

  asio::any_io_executor executor_;
  std::list<std::shared_ptr<Running>> running_;
  struct Joiner;
  std::unique_ptr<Joiner> joiner_;  // set while Join() waits
};

}  // namespace base
