#pragma once

// The parts of the daemon, in the order in which they stop. Each part stops before the parts that
// it depends on, and starts after them.
//
// Single-threaded. A started Stages must be stopped before it is destroyed.

#include <functional>
#include <list>
#include <string>
#include <vector>

#include "pkg/base/task_group.h"

namespace manager {

struct StageTask {
  std::string name;
  std::function<base::Task<void>()> run;
};

class Stages {
 public:
  explicit Stages(base::asio::any_io_executor executor) : executor_(std::move(executor)) {}

  // Tasks that start and stop together. A stage stops when `on_stop` is called; by default that
  // cancels its tasks. It may also spawn further tasks, which belong to the stage.
  using OnStop = std::function<void(base::TaskGroup&)>;
  void Add(std::vector<StageTask> tasks, OnStop on_stop = &base::TaskGroup::Cancel);

  // Starts the stages, the last added first.
  void Start();
  // Stops the stages, the first added first. Every task of a stage has ended before the next stage
  // is stopped.
  base::Task<void> Stop();

 private:
  struct Stage {
    Stage(const base::asio::any_io_executor& executor, std::vector<StageTask> planned_tasks,
          OnStop stop)
        : planned(std::move(planned_tasks)), on_stop(std::move(stop)), running(executor) {}
    std::vector<StageTask> planned;
    OnStop on_stop;
    base::TaskGroup running;
  };
  base::asio::any_io_executor executor_;
  std::list<Stage> stages_;
};

}  // namespace manager
