#include "tests/bench/soak_load.h"

#include <algorithm>

#include "tests/e2e/harness/admission.h"

namespace bench {
namespace {

constexpr std::chrono::milliseconds kTick{100};
constexpr std::size_t kParallel = 8;

}  // namespace

SoakLoad::SoakLoad(std::string kubeconfig, SoakWorld& world, int per_second)
    : kubeconfig_(std::move(kubeconfig)),
      world_(world),
      per_tick_(std::max(1, per_second / 10)),
      thread_([this] { Run(); }) {}

SoakLoad::~SoakLoad() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void SoakLoad::Pause() {
  std::unique_lock lock(mutex_);
  paused_ = true;
  changed_.wait(lock, [this] { return idle_; });
}

void SoakLoad::Resume() {
  {
    const std::lock_guard lock(mutex_);
    paused_ = false;
  }
  changed_.notify_all();
}

void SoakLoad::Run() {
  e2e::Api api(kubeconfig_);
  auto next = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  while (!stop_) {
    if (paused_) {
      idle_ = true;
      changed_.notify_all();
      changed_.wait(lock, [this] { return stop_ || !paused_; });
      next = std::chrono::steady_clock::now();
      continue;
    }
    idle_ = false;
    lock.unlock();
    for (const auto& answer :
         api.DoAll(world_.NextTick(static_cast<std::size_t>(per_tick_)), kParallel)) {
      const e2e::Attempt attempt = e2e::ToAttempt(answer);
      ++(attempt.ok() ? succeeded_ : attempt.exceeded() ? refused_ : failed_);
    }
    next = std::max(next + kTick, std::chrono::steady_clock::now());
    lock.lock();
    changed_.wait_until(lock, next, [this] { return stop_ || paused_; });
  }
  idle_ = true;
}

}  // namespace bench
