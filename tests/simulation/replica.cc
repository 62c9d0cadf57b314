#include "tests/simulation/replica.h"

#include <algorithm>
#include <iterator>
#include <list>

#include "pkg/accounting/reservation_list.h"
#include "pkg/accounting/timing.h"
#include "pkg/quota/cluster/cluster_quota.h"
#include "pkg/quota/core/core_quota.h"
#include "pkg/quota/ironcore/ironcore_quota.h"

namespace simulation {
namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""h;
using accounting::kReconnect;

constexpr std::chrono::milliseconds kWriteTimeout = 10s;
constexpr std::chrono::milliseconds kAnswerTime = 5s;

quota::QuotaApi QuotaApiOf(simulation::Api api) {
  if (api == simulation::Api::kIroncore) return quota::IroncoreQuotaApi();
  return api == simulation::Api::kCluster ? quota::ClusterQuotaApi() : quota::CoreQuotaApi();
}

quota::QuotaApi ApiOf(const ReplicaSettings& settings) {
  quota::QuotaApi api = QuotaApiOf(settings.api);
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
  void OnBurst(const quota::Quota& quota, const quota::ResourceList& usage) override {
    tell_.OnBurst(quota, usage);
  }

 private:
  Tell& tell_;
};

// The controller as admission sees it; knows which quotas admission writes at this moment.
class Replica::Book final : public admission::QuotaBook, public admission::ObjectBook {
 public:
  Book(controllers::QuotaController& controller, Tell& tell, Planted planted,
       const api::GroupVersionResource& quotas)
      : inner_(controller.quota_book()),
        objects_(controller.object_book()),
        tell_(tell),
        planted_(planted),
        quotas_(quotas) {}

  // A PATCH leaves. True if it is admission's.
  bool OnPatch(const client::ApiRequest& request) {
    const json::Value patch = json::Parse(request.body).value();
    const std::string_view uid = patch.StringAt({"metadata", "uid"});
    const auto writing = std::ranges::find_if(writing_, [&](const Writing& w) {
      return uid.empty() ? request.path == w.path : uid == w.uid;
    });
    if (writing == writing_.end()) return false;
    const auto batches = std::ranges::count(writing_, writing->uid, &Writing::uid);
    if (++writing->patches > batches) tell_.Violation("a batch wrote " + request.path + " twice");
    return true;
  }

  [[nodiscard]] std::vector<admission::BookedQuota> Quotas(std::string_view ns) const override {
    std::vector<admission::BookedQuota> quotas = inner_.Quotas(ns);
    Plant(planted_, quotas);
    return planted_ == Planted::kStaleBatch ? stale_.Age(std::move(quotas)) : quotas;
  }
  [[nodiscard]] std::vector<quota::TreePlace> PlacesOf(
      const std::vector<admission::BookedQuota>& quotas) const override {
    std::vector<quota::TreePlace> places = inner_.PlacesOf(quotas);
    Plant(planted_, places);
    return places;
  }
  [[nodiscard]] std::string WriterOf(std::string_view ns) override { return inner_.WriterOf(ns); }
  [[nodiscard]] bool MayLimit(std::string_view ns) const override { return inner_.MayLimit(ns); }
  [[nodiscard]] const quota::ResourceList* Reserved(const quota::Quota& quota,
                                                    const quota::Uid& uid,
                                                    std::string_view version) const override {
    return inner_.Reserved(quota, uid, version);
  }
  std::uint64_t Rely(const quota::Quota& quota, const quota::Uid& uid,
                     std::string_view version) override {
    return inner_.Rely(quota, uid, version);
  }
  [[nodiscard]] bool Draw(const admission::ReservePlan& plan) override { return inner_.Draw(plan); }
  base::Task<base::Result<void>> Reserve(admission::ReservePlan plan,
                                         base::TimePoint deadline) override {
    const quota::Quota& quota = plan.quota;
    const std::string uid = quota.uid;
    const auto same = [uid](const Writing& w) { return w.uid == uid; };
    // After namespaces or quotas changed two writers may have the same ClusterQuota for a moment.
    if (!quota.cluster && std::ranges::any_of(writing_, same)) {
      tell_.Violation("two batches write " + quota.key.ToString() + " at once");
    }
    writing_.push_back({uid, quotas_.Path(quota.key.ns, quota.key.name, "status")});
    const auto mine = std::prev(writing_.end());
    const auto outcome = co_await inner_.Reserve(std::move(plan), deadline);
    writing_.erase(mine);
    co_return outcome;
  }
  void Withdraw(const api::ObjectKey& key, const quota::Uid& uid, std::uint64_t grant) override {
    inner_.Withdraw(key, uid, grant);
  }
  base::Task<base::Result<void>> Refresh(std::string ns, base::TimePoint deadline) override {
    co_return co_await inner_.Refresh(std::move(ns), deadline);
  }

  [[nodiscard]] const quota::ClassTable* ClassesOf(
      const quota::Evaluator& evaluator) const override {
    return objects_.ClassesOf(evaluator);
  }
  [[nodiscard]] base::Result<quota::Resolved> SubjectOf(
      const quota::Evaluator& evaluator, std::string_view ns, const quota::Uid& uid,
      const quota::ObjectFacts& facts) const override {
    return objects_.SubjectOf(evaluator, ns, uid, facts);
  }
  [[nodiscard]] bool HasLater(const quota::Evaluator& evaluator, const quota::Uid& uid,
                              std::string_view resource_version) const override {
    return objects_.HasLater(evaluator, uid, resource_version);
  }
  base::Task<base::Result<quota::ClassUsage>> ReadClass(const quota::Evaluator& evaluator,
                                                        std::string name,
                                                        base::TimePoint deadline) override {
    if (planted_ == Planted::kClassNotRead) {
      co_return base::Error{.code = base::ErrorCode::kNotFound, .message = "not looked for"};
    }
    co_return co_await objects_.ReadClass(evaluator, std::move(name), deadline);
  }

 private:
  // What admission writes at this moment.
  struct Writing {
    std::string uid;
    std::string path;
    int patches = 0;
  };
  admission::QuotaBook& inner_;
  admission::ObjectBook& objects_;
  Tell& tell_;
  Planted planted_;
  const api::GroupVersionResource& quotas_;
  mutable StaleQuotas stale_;
  std::list<Writing> writing_;
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
  controller_ = std::make_unique<controllers::QuotaController>(context, api_, served_, *counts_,
                                                               ControllerOptions());
  book_ = std::make_unique<Book>(*controller_, tell_, settings_.planted, api_.resource);
  admitter_ = std::make_unique<admission::QuotaAdmitter>(timeline_.executor(), clock_, api_, *book_,
                                                         *book_, admission::NoObserver());
  if (settings_.webhooks) FollowWebhooks();
  link_.on_patch = [this](const client::ApiRequest& request) { CheckPatch(request); };
  life_.Spawn("life", [this] { return Live(); });
}

Replica::~Replica() = default;

std::size_t Replica::reservations() const {
  controllers::Accounts::Tally tally;
  while (controller_->accounts().Count(tally)) continue;
  return tally.reservations;
}

controllers::QuotaControllerOptions Replica::ControllerOptions() {
  controllers::QuotaControllerOptions options;
  options.resync_period = {};  // it must not be needed
  options.write_timeout = kWriteTimeout;
  options.identity = settings_.name;
  options.leading = [this] { return runner_->Leads(); };
  options.seed = settings_.seed + 2;
  options.crowd = {
      .crowd = settings_.bursts ? 1U : 0U, .window = 2s, .shortest = 0ms, .growth = 2, .share = 2};
  if (settings_.planted == Planted::kLoweredTooEarly || settings_.planted == Planted::kNotAsked) {
    options.hold = 100ms;
  }
  if (settings_.planted == Planted::kNoExpiry) options.hold = 1h;
  return options;
}

// Planted holds stay what they are.
void Replica::FollowWebhooks() {
  const bool ignored = settings_.planted == Planted::kNeighbourIgnored ||
                       settings_.planted == Planted::kLoweredTooEarly ||
                       settings_.planted == Planted::kNotAsked ||
                       settings_.planted == Planted::kNoExpiry;
  if (ignored) return;
  webhooks_ = std::make_unique<admission::OtherWebhooks>(
      clock_, client_, "quota-controller-manager",
      informers::ReflectorOptions{.backoff = kReconnect, .seed = settings_.seed + 4},
      [this](base::Duration longest) { controller_->SetSlowestWebhook(longest); });
  controller_->SetSlowestWebhook(webhooks_->Longest());
}

leader::LeaderOptions Replica::LeaseOptions() {
  leader::LeaderOptions options;
  options.lease = {"kube-system", "quota-controller-manager"};
  options.elector.identity = settings_.name;
  options.elector.seed = settings_.seed + 3;
  options.on_started_leading = [this] { controller_->OnLeading(); };
  options.on_lost = [this](const std::string&) { Stop(); };
  if (settings_.planted == Planted::kLeaseTrusted) {
    options.now = [this] { return clock_.NowWithoutPauses(); };
  }
  return options;
}

// What it granted a replica may take back, whoever leads: then it leaves alone what others
// reserved.
bool Replica::TakesBack(const client::ApiRequest& request) const {
  const json::Value patch = json::Parse(request.body).value();
  const std::string_view text =
      api_.form.reservations_in_status
          ? patch.StringAt({"status", "reservations"})
          : patch.StringAt({"metadata", "annotations", std::string(quota::kReservations)});
  const auto next = accounting::ReservationList::Parse(text);
  if (!next || patch.At({"status", "hard"}) != nullptr) return false;
  bool found = false;
  const auto check = [&](const quota::Quota& quota) {
    const std::string path = api_.resource.Path(quota.key.ns, quota.key.name, "status");
    const auto now = accounting::ReservationList::Parse(quota.reservations);
    if (path != request.path || !now) return;
    found = std::ranges::all_of(now->entries(), [&](const auto& entry) {
      return entry.by == settings_.name || next->Find(entry.by, entry.n) != nullptr;
    });
  };
  controllers::QuotaStore::Place place;
  while (controller_->store().VisitSome(place, 64, check)) continue;
  return found;
}

void Replica::CheckPatch(const client::ApiRequest& request) {
  if (!request.path.ends_with("/status") || book_->OnPatch(request)) return;
  if (runner_->Leads() || TakesBack(request)) return;
  tell_.Violation(settings_.name + " does not lead and reconciles: " + request.body);
}

base::Task<void> Replica::Live() {
  co_await base::DeferCancellation();
  base::TaskGroup controllers(timeline_.executor());
  base::TaskGroup leadership(timeline_.executor());
  controllers.Spawn("controller", [this] { return controller_->Run(); });
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

void Replica::Ask(admission::Review review,
                  std::function<void(const admission::Answer&)> answered) {
  reviews_.Spawn("review", [this, review = std::move(review), answered = std::move(answered)] {
    return Answer(review, answered);
  });
}

base::Task<void> Replica::Answer(admission::Review review,
                                 std::function<void(const admission::Answer&)> answered) {
  co_await base::DeferCancellation();
  co_await clock_.WhilePaused();
  const base::TimePoint deadline = clock_.Now() + kAnswerTime;
  const admission::Answer answer = co_await admitter_->Admit(std::move(review), deadline);
  if (!killed_) answered(answer);
}

}  // namespace simulation
