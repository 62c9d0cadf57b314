#pragma once

// The only way to start a coroutine that nobody awaits. A TaskGroup names its tasks, can cancel all
// of them, and can wait for them; it must be empty when it is destroyed. An exception that leaves a
// task is a bug and ends the process, unless a cancellation raised it.
//
// Single-threaded: belongs to its executor's thread.

#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "pkg/base/asio.h"
#include "pkg/base/suspension.h"

namespace base {

class TaskGroup {
 public:
  explicit TaskGroup(asio::any_io_executor executor);
  ~TaskGroup();  // REQUIRES: empty()
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  // Starts `task()` on the executor, never within this call. A task that is cancelled before it
  // starts does not run. The callable and its captures live until the task ends.
  void Spawn(std::string name, std::function<Task<void>()> task);
  // Cancels every running task: their waits end early. Does not wait.
  void Cancel();
  // Returns when no task is left, including tasks that are spawned meanwhile. Waits on even if the
  // joiner is cancelled. At most one joiner.
  Task<void> Join();
  // Like Join(), but if the joiner is cancelled, the tasks are cancelled, too. Returns true if so.
  Task<bool> JoinOrCancel();
  [[nodiscard]] bool empty() const { return running_.empty(); }
  [[nodiscard]] std::size_t size() const { return running_.size(); }

 private:
  struct Running;
  void Finish(const std::shared_ptr<Running>& task, const std::exception_ptr& error);

  asio::any_io_executor executor_;
  std::list<std::shared_ptr<Running>> running_;
  Suspension joiner_;  // where Join() waits
};

}  // namespace base
