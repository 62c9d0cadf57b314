#include "tests/e2e/harness/under_load.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <random>
#include <stdexcept>
#include <thread>

#include "tests/e2e/harness/admission.h"
#include "tests/e2e/harness/crowd.h"

namespace e2e {
namespace {

constexpr const char* kQuota = "q";
constexpr std::size_t kAtOnce = 4;
constexpr int kTurnsToALook = 12;
constexpr std::chrono::milliseconds kTimeout{2000};
constexpr std::chrono::milliseconds kPause{30};

Quantities Limits() { return {{"pods", std::to_string(UnderLoad::kPods)}, {"requests.cpu", "2"}}; }

Quantities UseOf(std::size_t pods) {
  const std::string cpu =
      pods % 10 == 0 ? std::to_string(pods / 10) : std::to_string(pods * 100) + "m";
  return {{"pods", std::to_string(pods)}, {"requests.cpu", cpu}};
}

std::vector<std::string> NamesIn(const json::Value& list) {
  std::vector<std::string> names;
  const json::Value* items = list.At({"items"});
  if (items == nullptr || items->AsArray() == nullptr) return names;
  for (const json::Value& item : *items->AsArray()) {
    names.emplace_back(item.StringAt({"metadata", "name"}));
  }
  return names;
}

}  // namespace

class UnderLoad::Thread {
 public:
  Thread(const std::string& kubeconfig, std::string path)
      : api_(kubeconfig), path_(std::move(path)), thread_([this] { Run(); }) {}
  ~Thread() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  void Pause() {
    std::unique_lock lock(mutex_);
    paused_ = true;
    changed_.wait(lock, [this] { return idle_; });
  }
  void Resume() {
    {
      const std::lock_guard lock(mutex_);
      paused_ = false;
    }
    changed_.notify_all();
  }
  [[nodiscard]] std::string last_failure() const {
    const std::lock_guard lock(mutex_);
    return last_failure_;
  }

  std::atomic<int> admitted_{0};
  std::atomic<int> refused_{0};
  std::atomic<int> undecided_{0};

 private:
  void Run() {
    std::unique_lock lock(mutex_);
    for (int turn = 0; !stop_; ++turn) {
      if (paused_) {
        idle_ = true;
        changed_.notify_all();
        changed_.wait(lock, [this] { return stop_ || !paused_; });
        continue;
      }
      idle_ = false;
      lock.unlock();
      if (turn % kTurnsToALook == 0) LookWhoIsAlive();
      Turn();
      lock.lock();
      changed_.wait_for(lock, kPause, [this] { return stop_ || paused_; });
    }
    idle_ = true;
  }

  // Reads which pods exist, because some creations had no answer.
  void LookWhoIsAlive() {
    const auto list = api_.Do({.path = path_, .timeout = kTimeout});
    if (list) alive_ = NamesIn(Json(list->body));
  }

  void Turn() {
    std::vector<client::ApiRequest> requests;
    for (std::size_t i = 0; i < kAtOnce; ++i) {
      const std::string name = "load-" + std::to_string(next_++);
      client::ApiRequest post = PostOf(path_, Pod(name, {{"cpu", "100m"}}));
      post.timeout = kTimeout;
      requests.push_back(std::move(post));
      alive_.push_back(name);  // it may be stored
    }
    std::shuffle(alive_.begin(), alive_.end(), random_);
    const std::size_t gone = std::min<std::size_t>(alive_.size(), 1 + random_() % kAtOnce);
    for (std::size_t i = 0; i < gone; ++i) {
      requests.push_back({.verb = "DELETE",
                          .path = path_ + "/" + alive_.back(),
                          .query = {{"gracePeriodSeconds", "0"}},
                          .timeout = kTimeout});
      alive_.pop_back();
    }
    const auto answers = api_.DoAll(std::move(requests), kAtOnce);
    for (std::size_t i = 0; i < kAtOnce; ++i) Note(ToAttempt(answers[i]));
  }

  void Note(const Attempt& attempt) {
    if (attempt.ok()) {
      ++admitted_;
    } else if (attempt.exceeded()) {
      ++refused_;
    } else {
      ++undecided_;
      const std::lock_guard lock(mutex_);
      last_failure_ = attempt.Text();
    }
  }

  Api api_;
  const std::string path_;
  std::vector<std::string> alive_;  // of the thread, as the next two
  std::mt19937_64 random_{3};
  int next_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool paused_ = false;  // guarded by mutex_, as those that follow
  bool idle_ = false;
  bool stop_ = false;
  std::string last_failure_ = "none";
  std::thread thread_;  // last: it uses the others
};

class UnderLoad::Watched {
 public:
  explicit Watched(Scenario& s)
      : heads(s.server().Kubeconfig(), s.Path("pods"), s.ResourceVersion(kQuota)),
        used(s, kQuota, "pods") {}
  HeadCount heads;
  HighestUsed used;
};

UnderLoad::UnderLoad(Scenario& scenario) : scenario_(scenario) {
  scenario_.Create("resourcequotas", Quota(kQuota, Limits()));
  Eventually("the quota is enforced",
             [&] { return Unenforced(scenario_.GetQuota(kQuota), Limits()); });
  watched_ = std::make_unique<Watched>(scenario_);
  thread_ = std::make_unique<Thread>(scenario_.server().Kubeconfig(), scenario_.Path("pods"));
}

UnderLoad::~UnderLoad() = default;

void UnderLoad::AwaitDecided(int more, std::chrono::milliseconds timeout) {
  const int wanted = admitted() + refused() + more;
  Eventually(
      "creations are decided",
      [&]() -> std::string {
        const int now = admitted() + refused();
        if (now >= wanted) return "";
        return std::to_string(wanted - now) + " are missing; the last failure: " + last_failure();
      },
      timeout);
}

void UnderLoad::Pause() {
  paused_ = true;
  thread_->Pause();
}

void UnderLoad::Resume() {
  paused_ = false;
  thread_->Resume();
}

std::size_t UnderLoad::CountPods() {
  return NamesIn(scenario_.api().Get(scenario_.Path("pods"))).size();
}

void UnderLoad::ExpectTrue() {
  thread_->Pause();
  CheckTrue();
  if (!paused_) thread_->Resume();
}

void UnderLoad::CheckTrue() {
  // Requests of the stopped load may still take effect, so list the pods in each try.
  const auto missing = [&]() -> std::string {
    const Quantities truth = UseOf(CountPods());
    const json::Value quota = scenario_.GetQuota(kQuota);
    const auto used = ToQuantities(quota.At({"status", "used"}));
    return used == truth ? "" : ToText(used) + "; the truth is " + ToText(truth);
  };
  const std::string list = scenario_.ReservationsOf(kQuota);
  // A charge whose object was not stored is held for 14.85 s, and then the server is asked. After a
  // long outage, in which a slow webhook might have been added, it is held longer.
  const bool held_long = list.find(R"("webhook":30)") != std::string::npos;
  Eventually("used equals the truth", missing, Stretched(held_long ? 45s : 20s));
  watched_->heads.WaitFor(CountPods());
  const std::size_t most = watched_->heads.most();
  const double highest = watched_->used.highest();
  if (most > kPods || highest > static_cast<double>(kPods)) {
    throw std::runtime_error("over-committed: " + std::to_string(most) + " pods at once, used " +
                             std::to_string(highest) + " of " + std::to_string(kPods));
  }
}

void UnderLoad::DeleteSome(std::size_t count) {
  const auto names = NamesIn(scenario_.api().Get(scenario_.Path("pods")));
  for (std::size_t i = 0; i < std::min(count, names.size()); ++i) {
    scenario_.Delete("pods", names[i]);
  }
}

int UnderLoad::admitted() const { return thread_->admitted_; }
int UnderLoad::refused() const { return thread_->refused_; }
int UnderLoad::undecided() const { return thread_->undecided_; }
std::string UnderLoad::last_failure() const { return thread_->last_failure(); }

}  // namespace e2e
