#include "tests/simulation/replica.h"

#include <algorithm>
#include <iterator>
#include <limits>
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

std::vector<quota::QuotaApi> ApisOf(const ReplicaSettings& settings) {
  std::vector<quota::QuotaApi> apis;
  const Api api = settings.api;
  if (api == Api::kIroncore) apis.push_back(quota::IroncoreQuotaApi());
  if (api == Api::kCore || api == Api::kJoint) apis.push_back(quota::CoreQuotaApi());
  if (HasTree(api)) apis.push_back(quota::ClusterQuotaApi());
  for (quota::QuotaApi& one : apis) Plant(settings.planted, one);
  return apis;
}

// Returns the text of the list of reservations, or "" if the patch has none.
std::string_view ReservationsIn(const json::Value& patch, const quota::QuotaApi& api) {
  return api.form.reservations_in_status
             ? patch.StringAt({"status", "reservations"})
             : patch.StringAt({"metadata", "annotations", quota::kReservations});
}

accounting::CrowdOptions CrowdFor(Bursts bursts) {
  accounting::CrowdOptions options{
      .window = 2s, .shared = 1, .long_window = 2s, .shortest = 0ms, .growth = 2, .share = 2};
  if (bursts == Bursts::kNone) options.crowd = 0;
  if (bursts == Bursts::kShort) options.crowd = 1;
  if (bursts == Bursts::kLong) options.crowd = std::numeric_limits<std::size_t>::max();
  return options;
}

}  // namespace

class Replica::Counts final : public controllers::ControllerObserver {
 public:
  explicit Counts(Tell& tell) : tell_(tell) {}
  void OnReconcile(std::string_view, base::Duration) override {}
  void OnDrift(const api::GroupResource&, const controllers::DriftReport&) override {}
  void OnResync(base::Duration, bool) override {}
  void OnExternalChargesExpired(std::size_t) override {}
  void OnBurst(const quota::Quota& quota, const quota::ResourceList& usage) override {
    tell_.OnBurst(quota, usage);
  }

 private:
  Tell& tell_;
};

// Wraps the controller as admission sees it, and records which quotas admission is writing.
class Replica::Book final : public admission::QuotaBook, public admission::ObjectBook {
 public:
  Book(controllers::QuotaController& controller, Tell& tell, Planted planted,
       const api::GroupVersionResource& quotas)
      : inner_(controller.quota_book()),
        objects_(controller.object_book()),
        tell_(tell),
        planted_(planted),
        quotas_(quotas) {}

  // Called when a PATCH leaves. Returns true if admission sent it.
  bool OnPatch(const client::ApiRequest& request, const json::Value& patch) {
    const std::string_view uid = patch.StringAt({"metadata", "uid"});
    const auto writing = std::ranges::find_if(writing_, [&](const Writing& w) {
      return uid.empty() ? request.path == w.path : uid == w.uid;
    });
    if (writing == writing_.end()) return false;
    const auto batches = std::ranges::count(writing_, writing->uid, &Writing::uid);
    if (++writing->patches > batches) tell_.Violation("a batch wrote " + request.path + " twice");
    return true;
  }

  [[nodiscard]] admission::NamespaceQuotas Quotas(std::string_view ns) const override {
    admission::NamespaceQuotas here = inner_.Quotas(ns);
    Plant(planted_, here);
    if (planted_ == Planted::kStaleBatch) stale_.Age(here);
    if (planted_ == Planted::kModeFrozen) modes_.Freeze(here);
    if (planted_ == Planted::kSumKept) sums_.Freeze(here);
    return here;
  }
  [[nodiscard]] Presence Look(std::string_view ns) const override {
    const admission::NamespaceQuotas here = Quotas(ns);
    return {.any = !here.quotas.empty(), .complete = here.complete};
  }
  base::Task<base::Result<quota::Quota>> Read(quota::Quota quota,
                                              base::TimePoint deadline) override {
    co_return co_await inner_.Read(std::move(quota), deadline);
  }
  [[nodiscard]] bool Draw(const admission::ReservePlan& plan) override { return inner_.Draw(plan); }
  base::Task<base::Result<void>> Reserve(admission::ReservePlan plan,
                                         base::TimePoint deadline) override {
    const quota::Quota& quota = plan.quota;
    const std::string uid = quota.uid;
    const auto same = [uid](const Writing& w) { return w.uid == uid; };
    // After a change of namespaces or quotas, two batches may write one ClusterQuota for a moment.
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
    if (planted_ != Planted::kWithdrawForgotten) inner_.Withdraw(key, uid, grant);
  }
  base::Task<base::Result<void>> Refresh(std::string ns, base::TimePoint deadline) override {
    co_return co_await inner_.Refresh(std::move(ns), deadline);
  }

  [[nodiscard]] quota::Rules RulesNow() const override { return objects_.RulesNow(); }
  [[nodiscard]] const quota::ClassTable* ClassesOf(
      const quota::Evaluator& evaluator) const override {
    return objects_.ClassesOf(evaluator);
  }
  [[nodiscard]] base::Result<quota::Resolved> SubjectOf(
      const quota::Evaluator& evaluator, std::string_view ns,
      const quota::ObjectFacts& facts) const override {
    return objects_.SubjectOf(evaluator, ns, facts);
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
  base::Task<base::Result<std::optional<admission::ScaledObject>>> ReadScaled(
      const quota::Evaluator& evaluator, std::string ns, std::string name,
      base::TimePoint deadline) override {
    co_return co_await objects_.ReadScaled(evaluator, std::move(ns), std::move(name), deadline);
  }
  base::Task<bool> IsTaken(const quota::Evaluator& evaluator, std::string ns, std::string name,
                           quota::Uid uid, base::TimePoint deadline) override {
    co_return co_await objects_.IsTaken(evaluator, std::move(ns), std::move(name), uid, deadline);
  }

 private:
  // A status write of admission in progress.
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
  mutable FrozenModes modes_;
  mutable FrozenSums sums_;
  std::list<Writing> writing_;
};

Replica::Replica(Timeline& timeline, Server& server, Tell& tell, ReplicaSettings settings)
    : timeline_(timeline),
      server_(server),
      tell_(tell),
      settings_(std::move(settings)),
      clock_(timeline.scheduler(), settings_.ahead, settings_.rate),
      link_(timeline, server, clock_, settings_.seed),
      client_(link_, settings_.planted, settings_.name),
      served_(client_, clock_),
      counts_(std::make_unique<Counts>(tell)),
      runner_(std::make_unique<leader::LeaderRunner>(clock_, client_, nullptr, LeaseOptions())),
      stop_(clock_.NewAlarm()),
      reviews_(timeline.executor()),
      life_(timeline.executor()) {
  for (quota::QuotaApi& api : ApisOf(settings_)) enforced_.push_back({.api = std::move(api)});
  // Only after all were added, because the parts of each keep a reference to its quota API.
  for (std::size_t i = 0; i < enforced_.size(); ++i) Enforce(enforced_[i], settings_.seed + 10 * i);
  MakeAdmitters();
  if (settings_.webhooks) FollowWebhooks();
  link_.on_patch = [this](const client::ApiRequest& request) { CheckPatch(request); };
  life_.Spawn("life", [this] { return Live(); });
}

void Replica::Enforce(Enforced& enforced, std::uint64_t seed) {
  controllers::TrackingContext context{.executor = timeline_.executor(),
                                       .scheduler = &clock_,
                                       .client = &client_,
                                       .reflector = {.backoff = kReconnect, .seed = seed + 1},
                                       .name = enforced.api.name,
                                       .registry = nullptr,
                                       .events = nullptr};
  enforced.controller = std::make_unique<controllers::QuotaController>(
      context, enforced.api, served_, shared_, *counts_, ControllerOptions(seed + 2));
  enforced.book =
      std::make_unique<Book>(*enforced.controller, tell_, settings_.planted, enforced.api.resource);
}

// One admitter decides for all quota APIs, as in the daemon.
void Replica::MakeAdmitters() {
  for (Enforced& enforced : enforced_) {
    if (admitters_.empty() || settings_.planted == Planted::kEachAlone) {
      admitters_.push_back(std::make_unique<admission::QuotaAdmitter>(timeline_.executor(), clock_,
                                                                      admission::NoObserver()));
    }
    enforced.admitter = admitters_.back().get();
    enforced.admitter->Enforce(enforced.api);
    enforced.admitter->Open(enforced.api.name, *enforced.book, *enforced.book);
  }
}

Replica::~Replica() = default;

std::size_t Replica::reservations() const {
  std::size_t reservations = 0;
  for (const Enforced& enforced : enforced_) {
    controllers::Accounts::Tally tally;
    while (enforced.controller->accounts().Count(tally)) continue;
    reservations += tally.reservations;
  }
  return reservations;
}

controllers::QuotaControllerOptions Replica::ControllerOptions(std::uint64_t seed) {
  controllers::QuotaControllerOptions options;
  options.resync_period = {};  // correctness must not need a resync
  options.write_timeout = kWriteTimeout;
  options.identity = settings_.name;
  options.leading = [this] { return runner_->Leads(); };
  options.seed = seed;
  options.crowd = CrowdFor(settings_.bursts);
  if (settings_.planted == Planted::kLoweredTooEarly || settings_.planted == Planted::kNotAsked) {
    options.hold = 100ms;
  }
  if (settings_.planted == Planted::kNoExpiry) options.hold = 1h;
  if (settings_.planted == Planted::kShortHold) options.hold = 9'900ms;
  return options;
}

// Some planted faults set the hold time. A slow webhook must not change it.
void Replica::FollowWebhooks() {
  const bool ignored =
      settings_.planted == Planted::kNeighbourIgnored ||
      settings_.planted == Planted::kLoweredTooEarly || settings_.planted == Planted::kNotAsked ||
      settings_.planted == Planted::kShortHold || settings_.planted == Planted::kNoExpiry;
  if (ignored) return;
  webhooks_ = std::make_unique<webhook::OtherWebhooks>(
      clock_, client_, "quota-controller-manager",
      informers::ReflectorOptions{.backoff = kReconnect, .seed = settings_.seed + 4},
      [this](base::Duration longest) {
        for (Enforced& enforced : enforced_) enforced.controller->SetSlowestWebhook(longest);
      });
  for (Enforced& enforced : enforced_) {
    enforced.controller->SetSlowestWebhook(webhooks_->Longest());
  }
}

leader::LeaderOptions Replica::LeaseOptions() {
  leader::LeaderOptions options;
  options.lease = {"kube-system", "quota-controller-manager"};
  options.elector.identity = settings_.name;
  options.elector.seed = settings_.seed + 3;
  options.on_started_leading = [this] {
    for (Enforced& enforced : enforced_) enforced.controller->OnLeading();
  };
  options.on_lost = [this](const std::string&) { Stop(); };
  if (settings_.planted == Planted::kLeaseTrusted) {
    options.now = [this] { return clock_.NowWithoutPauses(); };
  }
  return options;
}

// A replica may remove its own reservations, and store again a list that somebody damaged, even if
// it does not lead. Such a write must keep the entries of other replicas and must not change
// status.hard, except for what cannot be read.
bool Replica::TakesBack(const Enforced& enforced, const client::ApiRequest& request,
                        std::string_view reservations, const json::Value& patch) const {
  const auto uid = patch.StringAt({"metadata", "uid"});
  const auto next = accounting::ReservationList::Parse(reservations, uid);
  if (!next) return false;
  // The first write of a status has empty amounts.
  const json::Value* hard = patch.At({"status", "hard"});
  const bool limits = hard != nullptr && !(hard->IsObject() && hard->AsObject()->empty());
  bool found = false;
  const auto check = [&](const quota::Quota& quota) {
    const std::string path = enforced.api.resource.Path(quota.key.ns, quota.key.name, "status");
    if (path != request.path) return;
    if (limits && quota.garbage.hard.empty()) return;
    const auto stored = accounting::ReservationList::Parse(quota.reservations, quota.uid);
    const auto& now = stored ? *stored : enforced.controller->accounts().Find(quota.key)->known();
    found = std::ranges::all_of(now.entries(), [&](const auto& entry) {
      return entry.by == settings_.name || next->Find(entry.by, entry.n) != nullptr;
    });
  };
  controllers::QuotaStore::Place place;
  while (enforced.controller->store().VisitSome(place, 64, check)) continue;
  return found;
}

Replica::Enforced& Replica::ConcernedBy(const client::ApiRequest& request) {
  const auto concerns = [&](const Enforced& enforced) {
    return request.path.find("/" + enforced.api.resource.resource + "/") != std::string::npos;
  };
  return *std::ranges::find_if(enforced_, concerns);
}

void Replica::CheckPatch(const client::ApiRequest& request) {
  if (!request.path.ends_with("/status")) return;
  Enforced& enforced = ConcernedBy(request);
  const json::Value patch = json::Parse(request.body).value();
  const std::string_view reservations = ReservationsIn(patch, enforced.api);
  if (enforced.book->OnPatch(request, patch)) {
    return tell_.OnReserve(std::string(reservations));
  }
  if (runner_->Leads() || TakesBack(enforced, request, reservations, patch)) return;
  tell_.Violation(settings_.name + " does not lead and reconciles: " + request.body);
}

base::Task<void> Replica::Live() {
  co_await base::DeferCancellation();
  base::TaskGroup controllers(timeline_.executor());
  base::TaskGroup leadership(timeline_.executor());
  for (Enforced& enforced : enforced_) {
    controllers.Spawn("controller", [&enforced] { return enforced.controller->Run(); });
  }
  if (webhooks_) controllers.Spawn("other webhooks", [this] { return webhooks_->Run(); });
  leadership.Spawn("leader", [this] { return runner_->Run(); });
  while (!stopping_) co_await stop_->WaitUntil(clock_.Now() + 1h);
  if (killed_) reviews_.Cancel();
  co_await reviews_.Join();
  for (const auto& admitter : admitters_) co_await admitter->Stop();
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

// With this fault, the API server is trusted to refuse the creation of a name that exists.
bool Replica::IsDuplicatePassed(const admission::Review& review) const {
  if (settings_.planted != Planted::kDuplicatePassed) return false;
  if (review.operation != admission::Operation::kCreate) return false;
  const bool claim = review.resource.resource == "persistentvolumeclaims";
  const Resource resource = claim ? Resource::kClaims : Resource::kSecrets;
  return server_.FindThing(resource, {review.ns, review.name}) != nullptr;
}

// With this fault, the webhook of a later quota API trusts that the first one is called as well.
bool Replica::IsLeftToFirst(std::size_t quota_api, const admission::Review& review) const {
  if (settings_.planted != Planted::kLeftToOther || quota_api == 0) return false;
  const Enforced& first = enforced_.front();
  const auto known = first.book->Look(review.ns);
  if (known.complete && !known.any) return false;
  return first.api.evaluators.Find(review.resource.WithoutVersion()) != nullptr;
}

void Replica::Ask(std::size_t quota_api, admission::Review review,
                  std::function<void(const admission::Answer&)> answered) {
  reviews_.Spawn("review",
                 [this, quota_api, review = std::move(review), answered = std::move(answered)] {
                   return Answer(quota_api, review, answered);
                 });
}

base::Task<void> Replica::Answer(std::size_t quota_api, admission::Review review,
                                 std::function<void(const admission::Answer&)> answered) {
  co_await base::DeferCancellation();
  co_await clock_.WhilePaused();
  const base::TimePoint deadline = clock_.Now() + kAnswerTime;
  if (IsDuplicatePassed(review)) co_return answered(admission::Answer());
  if (IsLeftToFirst(quota_api, review)) co_return answered(admission::Answer());
  review.called_for.push_back(enforced_[quota_api].api.name);
  admission::QuotaAdmitter& admitter = *enforced_[quota_api].admitter;
  const admission::Answer answer = co_await admitter.Admit(std::move(review), deadline);
  if (!killed_) answered(answer);
}

}  // namespace simulation
