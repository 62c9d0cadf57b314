#include "cmd/quota-controller-manager/stages.h"

namespace manager {

void Stages::Add(std::vector<StageTask> tasks, OnStop on_stop) {
  stages_.emplace_back(executor_, std::move(tasks), std::move(on_stop));
}

void Stages::Start() {
  for (auto stage = stages_.rbegin(); stage != stages_.rend(); ++stage) {
    for (StageTask& task : stage->planned) {
      stage->running.Spawn(std::move(task.name), std::move(task.run));
    }
    stage->planned.clear();
  }
}

base::Task<void> Stages::Stop() {
  for (Stage& stage : stages_) {
    stage.on_stop(stage.running);
    co_await stage.running.Join();
  }
}

}  // namespace manager
