#include "pkg/base/task_group.h"

#include <glog/logging.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

namespace base {

struct TaskGroup::Running {
  std::string name;
  std::list<std::shared_ptr<Running>>::iterator place;  // in running_
  asio::cancellation_signal stop;
  bool started = false;
  bool cancelled = false;  // before it started
};

TaskGroup::TaskGroup(asio::any_io_executor executor) : executor_(std::move(executor)) {}

TaskGroup::~TaskGroup() {
  CHECK(running_.empty()) << "task still running: " << running_.front()->name;
}

void TaskGroup::Spawn(std::string name, std::function<Task<void>()> task) {
  auto running = std::make_shared<Running>();
  running->name = std::move(name);
  running->place = running_.insert(running_.end(), running);
  // Posted, because co_spawn on the executor's own thread would run the first part of the task
  // inside Spawn(), while the caller may be in the middle of a change.
  auto start = [running, task = std::move(task)]() -> Task<void> {
    co_await asio::post(asio::use_awaitable);
    running->started = true;
    if (!running->cancelled) co_await task();
  };
  auto finish = [this, running](const std::exception_ptr& error) { Finish(running, error); };
  asio::co_spawn(executor_, std::move(start),
                 asio::bind_cancellation_slot(running->stop.slot(), std::move(finish)));
}

void TaskGroup::Cancel() {
  const auto snapshot = running_;  // a cancelled task may end, or start another, within the loop
  for (const auto& task : snapshot) {
    // co_spawn cannot be cancelled before its coroutine has waited once: from Boost 1.83 on, its
    // exception then leaves the event loop (https://github.com/chriskohlhoff/asio/issues/1452).
    if (task->started) {
      task->stop.emit(asio::cancellation_type::terminal);
    } else {
      task->cancelled = true;
    }
  }
}

Task<void> TaskGroup::Join() {
  CHECK(!joiner_.waiting()) << "two joiners of one task group";
  // A cancelled joiner still waits: it must not leave tasks behind.
  while (!running_.empty()) co_await joiner_.Wait();
}

Task<bool> TaskGroup::JoinOrCancel() {
  CHECK(!joiner_.waiting()) << "two joiners of one task group";
  bool cancelled = false;
  const std::function<void()> stop = [this, &cancelled] {
    cancelled = true;
    Cancel();
  };
  while (!running_.empty()) co_await joiner_.Wait(stop);
  co_return cancelled;
}

void TaskGroup::Finish(const std::shared_ptr<Running>& task, const std::exception_ptr& error) {
  try {
    if (error) std::rethrow_exception(error);
  } catch (const boost::system::system_error& e) {
    CHECK(e.code() == asio::error::operation_aborted) << task->name << ": " << e.what();
  } catch (const std::exception& e) {
    LOG(FATAL) << task->name << ": " << e.what();
  }
  running_.erase(task->place);
  if (running_.empty()) joiner_.Resume();
}

}  // namespace base
