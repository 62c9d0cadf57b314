#include "tests/simulation/replica.h"

#include <algorithm>

#include "pkg/quota/core/core_quota.h"
#include "pkg/quota/ironcore/ironcore_quota.h"

namespace simulation {
namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""h;

// Like those of the daemon (cmd/quota-controller-manager/manager.cc), except that its pauses
// between two watches end at 4 s.
constexpr base::BackoffOptions kReconnect{
    .initial = 500ms, .factor = 2, .cap = 8s, .jitter = 0.5, .reset_after = 120s};
constexpr std::chrono::milliseconds kWriteTimeout = 10s;
constexpr std::chrono::milliseconds kAnswerTime = 5s;

quota::QuotaApi ApiOf(const ReplicaSettings& settings) {
  quota::QuotaApi api = settings.ironcore ? quota::IroncoreQuotaApi() : quota::CoreQuotaApi();
  Plant(settings.planted, api);
  return api;
}

}  // namespace

class Replica::Counts final : public controllers::ControllerObserver {
 public:
  explicit Counts(Tell& tell) : tell_(tell) {}
  void OnReconcile(std::string_view, base::Duration) override {}
  void OnDrift(const api::GroupResource&, const controllers::DriftReport&) override {}
  void OnResync(base::Duration, bool) override {}
  void OnForeignChargesExpired(std::size_t) override {}
  void OnAdvance(const quota::Quota& quota, const quota::ResourceList& usage) override {
    tell_.OnAdvance(quota, usage);
  }

 private:
  Tell& tell_;
};

// The controller as admission sees it; knows which quotas admission writes at this moment.
class Replica::Book final : public admission::QuotaBook {
 public:
  Book(admission::QuotaBook& inner, Tell& tell, Planted planted,
       const api::GroupVersionResource& quotas)
      : inner_(inner), tell_(tell), planted_(planted), quotas_(quotas) {}

  // A PATCH leaves. True if it is admission's.
  bool OnPatch(const client::ApiRequest& request) {
    const json::Value patch = json::Parse(request.body).value();
    const std::string_view uid = patch.StringAt({"metadata", "uid"});
    const auto writing = std::ranges::find_if(writing_, [&](const Writing& w) {
      return uid.empty() ? request.path == w.path : uid == w.uid;
    });
    if (writing == writing_.end()) return false;
    if (++writing->patches > 1) tell_.Violation("a batch wrote " + request.path + " twice");
    return true;
  }

  [[nodiscard]] bool Current() const override { return inner_.Current(); }
  [[nodiscard]] std::vector<const quota::Quota*> InNamespace(std::string_view ns) const override {
    if (planted_ != Planted::kStaleBatch) return inner_.InNamespace(ns);
    return stale_.Age(inner_.InNamespace(ns));
  }
  [[nodiscard]] const quota::Charge* Covering(const quota::Quota& quota, const quota::Uid& uid,
                                              std::string_view version) const override {
    return inner_.Covering(quota, uid, version);
  }
  std::uint64_t Cover(const quota::Quota& quota, const quota::Uid& uid,
                      std::string_view version) override {
    return inner_.Cover(quota, uid, version);
  }
  [[nodiscard]] const quota::ClassTable* ClassesOf(
      const quota::Evaluator& evaluator) const override {
    return inner_.ClassesOf(evaluator);
  }
  [[nodiscard]] base::Result<quota::Resolved> SubjectOf(
      const quota::Evaluator& evaluator, std::string_view ns, const quota::Uid& uid,
      const quota::ObjectFacts& facts) const override {
    return inner_.SubjectOf(evaluator, ns, uid, facts);
  }
  [[nodiscard]] bool HasLater(const quota::Evaluator& evaluator, const quota::Uid& uid,
                              std::string_view resource_version) const override {
    return inner_.HasLater(evaluator, uid, resource_version);
  }
  base::Task<base::Result<quota::ClassUsage>> ReadClass(const quota::Evaluator& evaluator,
                                                        std::string name,
                                                        base::TimePoint deadline) override {
    if (planted_ == Planted::kClassNotRead) {
      co_return base::Error{.code = base::ErrorCode::kNotFound, .message = "not looked for"};
    }
    co_return co_await inner_.ReadClass(evaluator, std::move(name), deadline);
  }
  [[nodiscard]] quota::ResourceList AdvanceOf(const quota::Quota& quota) const override {
    return inner_.AdvanceOf(quota);
  }
  [[nodiscard]] bool Draw(const admission::ChargePlan& plan) override { return inner_.Draw(plan); }
  base::Task<base::Result<void>> Charge(admission::ChargePlan plan,
                                        base::TimePoint deadline) override {
    const quota::Quota& quota = plan.quota;
    const std::string uid = quota.uid;
    const auto same = [uid](const Writing& w) { return w.uid == uid; };
    if (std::ranges::any_of(writing_, same)) {
      tell_.Violation("two batches write " + quota.key.ToString() + " at once");
    }
    writing_.push_back({uid, quotas_.Path(quota.key.ns, quota.key.name, "status")});
    const auto outcome = co_await inner_.Charge(std::move(plan), deadline);
    std::erase_if(writing_, same);
    co_return outcome;
  }
  void Release(const api::ObjectKey& key, const quota::Uid& uid, std::uint64_t grant) override {
    inner_.Release(key, uid, grant);
  }
  base::Task<base::Result<void>> Refresh(std::string ns, base::TimePoint deadline) override {
    co_return co_await inner_.Refresh(std::move(ns), deadline);
  }

 private:
  // What admission writes at this moment.
  struct Writing {
    std::string uid;
    std::string path;
    int patches = 0;
  };
  admission::QuotaBook& inner_;
  Tell& tell_;
  Planted planted_;
  const api::GroupVersionResource& quotas_;
  mutable StaleQuotas stale_;
  std::vector<Writing> writing_;
};

Replica::Replica(Timeline& timeline, Server& server, Tell& tell, ReplicaSettings settings)
    : timeline_(timeline),
      tell_(tell),
      settings_(std::move(settings)),
      clock_(timeline.scheduler(), settings_.ahead, settings_.rate),
      link_(timeline, server, clock_, settings_.seed),
      client_(link_, settings_.planted),
      api_(ApiOf(settings_)),
      served_(client_, clock_),
      counts_(std::make_unique<Counts>(tell)),
      runner_(std::make_unique<leader::LeaderRunner>(clock_, client_, nullptr, LeaseOptions())),
      stop_(clock_.NewAlarm()),
      reviews_(timeline.executor()),
      life_(timeline.executor()) {
  controllers::TrackingContext context{
      .executor = timeline.executor(),
      .scheduler = &clock_,
      .client = &client_,
      .reflector = {.backoff = kReconnect, .seed = settings_.seed + 1},
      .name = api_.name,
      .registry = nullptr,
      .events = nullptr};
  if (settings_.reserving) {
    reserving_ = std::make_unique<ReservingController>(std::move(context), api_, served_,
                                                       OptionsOfReserving());
  } else {
    controller_ = std::make_unique<controllers::QuotaController>(context, api_, served_, *counts_,
                                                                 ControllerOptions());
  }
  book_ = std::make_unique<Book>(BookOf(), tell_, settings_.planted, api_.resource);
  admitter_ = std::make_unique<admission::QuotaAdmitter>(timeline.executor(), clock_, api_, *book_,
                                                         admission::NoObserver());
  if (settings_.webhooks) FollowWebhooks();
  link_.on_patch = [this](const client::ApiRequest& request) { CheckPatch(request); };
  life_.Spawn("life", [this] { return Live(); });
}

Replica::~Replica() = default;

quota::AdvanceOptions Replica::OptionsOfAdvance() const {
  quota::AdvanceOptions options;
  options.crowd = settings_.advance ? 1 : 0;
  options.window = 2s;
  options.shortest = 0ms;
  options.growth = 2;
  options.share = 2;
  options.idle = 2s;
  return options;
}

controllers::QuotaControllerOptions Replica::ControllerOptions() {
  controllers::QuotaControllerOptions options;
  options.resync_period = {};  // it must not be needed
  options.write_timeout = kWriteTimeout;
  options.field_manager = settings_.name;
  options.leading = [this] { return runner_->Leads(); };
  options.seed = settings_.seed + 2;
  options.advance = OptionsOfAdvance();
  if (settings_.planted == Planted::kLoweredTooEarly) options.charge_hold = 100ms;
  if (settings_.planted == Planted::kNoForeignCharge) options.foreign_hold = 0ms;
  if (settings_.planted == Planted::kNoExpiry) options.charge_hold = 1h;
  return options;
}

// Planted holds stay what they are.
void Replica::FollowWebhooks() {
  const bool ignored = settings_.planted == Planted::kNeighbourIgnored ||
                       settings_.planted == Planted::kLoweredTooEarly ||
                       settings_.planted == Planted::kNoForeignCharge ||
                       settings_.planted == Planted::kNotAsked ||
                       settings_.planted == Planted::kNoExpiry;
  if (ignored) return;
  webhooks_ = std::make_unique<admission::OtherWebhooks>(
      clock_, client_, "quota-controller-manager",
      informers::ReflectorOptions{.backoff = kReconnect, .seed = settings_.seed + 4},
      [this](base::Duration longest) { SetSlowestWebhook(longest); });
  SetSlowestWebhook(webhooks_->Longest());
}

void Replica::SetSlowestWebhook(base::Duration slowest) {
  if (controller_) controller_->SetHold(quota::HoldFor(slowest));
  if (reserving_) reserving_->SetSlowestWebhook(slowest);
}

ReservingOptions Replica::OptionsOfReserving() {
  ReservingOptions options;
  options.by = settings_.name;
  options.write_timeout = kWriteTimeout;
  options.leading = [this] { return runner_->Leads(); };
  options.seed = settings_.seed + 2;
  options.advance = OptionsOfAdvance();
  options.on_advance = [this](const quota::Quota& quota, const quota::ResourceList& usage) {
    tell_.OnAdvance(quota, usage);
  };
  if (settings_.planted == Planted::kLoweredTooEarly || settings_.planted == Planted::kNotAsked) {
    options.hold = 100ms;
  }
  if (settings_.planted == Planted::kNotAsked) options.asks = false;
  if (settings_.planted == Planted::kDroppedEarly) options.patient = false;
  if (settings_.planted == Planted::kNoExpiry) options.hold = 1h;
  if (settings_.planted == Planted::kNoFloor) options.floors = false;
  if (settings_.planted == Planted::kNoForeignCharge) options.holds_strangers = false;
  return options;
}

admission::QuotaBook& Replica::BookOf() {
  if (controller_) return *controller_;
  return *reserving_;
}

leader::LeaderOptions Replica::LeaseOptions() {
  leader::LeaderOptions options;
  options.lease = {"kube-system", "quota-controller-manager"};
  options.elector.identity = settings_.name;
  options.elector.seed = settings_.seed + 3;
  options.on_started_leading = [this] {
    controller_ ? controller_->OnLeading() : reserving_->OnLeading();
  };
  options.on_lost = [this](const std::string&) { Stop(); };
  if (settings_.planted == Planted::kLeaseTrusted) {
    options.now = [this] { return clock_.NowWithoutPauses(); };
  }
  return options;
}

void Replica::CheckPatch(const client::ApiRequest& request) {
  if (!request.path.ends_with("/status") || book_->OnPatch(request)) return;
  if (runner_->Leads() || (reserving_ && reserving_->withdrawing())) return;
  tell_.Violation(settings_.name + " does not lead and reconciles: " + request.body);
}

base::Task<void> Replica::Live() {
  co_await base::DeferCancellation();
  base::TaskGroup controllers(timeline_.executor());
  base::TaskGroup leadership(timeline_.executor());
  controllers.Spawn("controller",
                    [this] { return controller_ ? controller_->Run() : reserving_->Run(); });
  if (webhooks_) controllers.Spawn("other webhooks", [this] { return webhooks_->Run(); });
  leadership.Spawn("leader", [this] { return runner_->Run(); });
  while (!stopping_) co_await stop_->WaitUntil(clock_.Now() + 1h);
  if (killed_) reviews_.Cancel();
  co_await reviews_.Join();
  co_await admitter_->Stop();
  controllers.Cancel();
  co_await controllers.Join();
  leadership.Cancel();
  co_await leadership.Join();
  ended_ = true;
}

void Replica::Stop() {
  stopping_ = true;
  stop_->Wake();
}

void Replica::Kill() {
  killed_ = true;
  clock_.Resume();
  link_.Kill();
  Stop();
}

void Replica::Ask(admission::Review review, std::function<void(admission::Answer)> answered) {
  reviews_.Spawn("review", [this, review = std::move(review), answered = std::move(answered)] {
    return Answer(review, answered);
  });
}

base::Task<void> Replica::Answer(admission::Review review,
                                 std::function<void(admission::Answer)> answered) {
  co_await base::DeferCancellation();
  co_await clock_.WhilePaused();
  const base::TimePoint deadline = clock_.Now() + kAnswerTime;
  const admission::Answer answer = co_await admitter_->Admit(std::move(review), deadline);
  if (!killed_) answered(answer);
}

}  // namespace simulation
