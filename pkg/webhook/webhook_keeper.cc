#include "pkg/webhook/webhook_keeper.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "pkg/api/object_meta.h"
#include "pkg/api/resource_version.h"
#include "pkg/base/task_group.h"
#include "pkg/json/value.h"

namespace webhook {
namespace {

constexpr std::chrono::hours kLongestWait{1};
constexpr std::chrono::milliseconds kLookForAnswers{500};
constexpr std::chrono::seconds kLookForLeader{1};  // while the leader keeps the object empty
constexpr std::chrono::seconds kVerifiedFor{1};

const api::GroupVersionResource kClusterRoles{"rbac.authorization.k8s.io", "v1", "clusterroles"};
// Repairs that are further apart than this are not counted as a row.
constexpr std::chrono::minutes kQuiet{2};
constexpr int kFight = 3;  // repairs in a row until the log names the other writer

informers::ReflectorOptions ReflectorOptionsFor(informers::ReflectorOptions options,
                                                const std::string& name) {
  options.resource = kWebhookConfigurations;
  options.fields = {"metadata.labels", "metadata.annotations", "metadata.ownerReferences",
                    "webhooks"};
  options.field_selector = "metadata.name=" + name;
  return options;
}

}  // namespace

WebhookKeeper::WebhookKeeper(base::asio::any_io_executor executor, base::Scheduler& scheduler,
                             client::ApiClient& client, StoredRulesListener& listener,
                             WebhookKeeperOptions options)
    : executor_(std::move(executor)),
      scheduler_(scheduler),
      client_(client),
      listener_(listener),
      options_(std::move(options)),
      plan_(options_.plan),
      reflector_(informers::NewReflector(client, scheduler, *this,
                                         ReflectorOptionsFor(options_.reflector, plan_.name()))),
      alarm_(scheduler.NewAlarm()),
      retry_(options_.retry),
      pace_(options_.repair) {}

void WebhookKeeper::BeginWhen(std::function<bool()> answers) {
  answers_ = std::move(answers);
  plan_.WaitToBegin();
}

base::Task<void> WebhookKeeper::Run() {
  co_await base::DeferCancellation();
  if (!options_.manage) co_return;
  base::TaskGroup watching(executor_);
  (void)co_await FindOwner();  // for patches; looked up again before the object is created
  watching.Spawn("webhook configuration", [this] { return reflector_->Run(); });
  while (!co_await base::Stopping()) {
    Advance();
    const base::TimePoint writes_at = WritesAt();
    if (writes_at <= scheduler_.Now()) {
      co_await Write();
    } else {
      co_await alarm_->WaitUntil(std::min(writes_at, NextLook()));
    }
  }
  co_await base::IgnoreCancellation();
  watching.Cancel();
  co_await watching.Join();
}

void WebhookKeeper::SetWanted(const std::string& quota_api, std::vector<GuardedResource> wanted) {
  const auto [known, added] = wanted_.try_emplace(quota_api);
  if (!added && known->second == wanted) return;
  known->second = std::move(wanted);
  plan_.SetWanted(scheduler_.Now(), quota_api, known->second);
  OnWish();
}

void WebhookKeeper::SetCaBundle(std::string pem) {
  plan_.SetCaBundle(scheduler_.Now(), std::move(pem));
  OnWish();
}

// Waits for more changes, which often follow at once. Never shortens a running backoff.
void WebhookKeeper::OnWish() {
  const base::TimePoint now = scheduler_.Now();
  if (not_before_ <= now) not_before_ = now + options_.debounce;
  alarm_->Wake();
}

bool WebhookKeeper::Stored(std::string_view quota_api, const api::GroupResource& resource,
                           std::string_view ns) const {
  return !options_.manage || plan_.Stored(quota_api, resource, ns);
}

bool WebhookKeeper::Stored(std::string_view quota_api, const api::GroupResource& resource,
                           const Namespaces& where) const {
  return !options_.manage || plan_.Stored(quota_api, resource, where);
}

bool WebhookKeeper::IsAbsent(std::string_view quota_api, const api::GroupResource& resource,
                             std::string_view ns) const {
  // While the watch fails, a rule may have been stored that it has not shown.
  const bool known = options_.manage && !reflector_->state().trouble && plan_.live() != nullptr;
  return known && !plan_.IsForeign() && !plan_.MaySelect(quota_api, resource, ns);
}

std::optional<WebhookPlan::Unasked> WebhookKeeper::UnaskedOf(const std::string& quota_api) const {
  CHECK(options_.manage) << "the stored configuration is not read";
  return plan_.UnaskedOf(quota_api);
}

bool WebhookKeeper::IsCaBundleStored(std::string_view pem) const {
  CHECK(options_.manage) << "the stored configuration is not read";
  return plan_.IsCaBundleStored(pem);
}

bool WebhookKeeper::Ready(std::string* why) const {
  if (!options_.manage) return true;
  std::string missing = plan_.Missing();
  if (missing.empty() && trouble_.empty()) return true;
  *why = "webhook configuration " + plan_.name() + ": " + missing;
  if (!trouble_.empty()) *why += (missing.empty() ? "" : ": ") + trouble_;
  const auto& watch_trouble = reflector_->state().trouble;
  if (trouble_.empty() && watch_trouble) *why += ": " + watch_trouble->message;
  return false;
}

bool WebhookKeeper::IsTrusted(const std::string& chain_pem, std::string* why) const {
  if (!options_.manage) return true;
  std::string wrong = plan_.WhyNotOurs();
  const base::TimePoint now = scheduler_.Now();
  if (wrong.empty() && (now >= verified_.until || verified_.chain_pem != chain_pem)) {
    verified_ = {now + kVerifiedFor, chain_pem, plan_.WhyNotTrusted(chain_pem)};
  }
  if (wrong.empty()) wrong = verified_.wrong;
  if (wrong.empty()) return true;
  *why = "webhook configuration " + plan_.name() + ": " + wrong;
  const auto& watch_trouble = reflector_->state().trouble;
  if (watch_trouble) *why += ": " + watch_trouble->message;
  return false;
}

void WebhookKeeper::BeginList() {
  listing_ = true;
  listed_ = false;
  written_ = false;
  ahead_ = false;
}

// A list is true even if it is older, because the server may have been restored. But what we have
// stored since the list was requested may be newer than the list.
void WebhookKeeper::Upsert(const json::Value& object) {
  if (object.StringAt({"metadata", "name"}) != plan_.name()) return;
  listed_ = true;
  TakeLive(&object, listing_ && !written_);
  if (api::ResourceVersion(object) == LiveVersion()) ahead_ = false;
}

void WebhookKeeper::Remove(const json::Value& object) {
  if (object.StringAt({"metadata", "name"}) != plan_.name()) return;
  ahead_ = false;
  TakeLive(nullptr);
}

void WebhookKeeper::EndList() {
  listing_ = false;
  if (!listed_ && !written_) TakeLive(nullptr);
}

void WebhookKeeper::LearnLeader() {
  if (options_.leader) plan_.SetLeader(options_.leader());
}

void WebhookKeeper::TakeLive(const json::Value* live, bool true_if_older) {
  LearnLeader();
  // Only a change of a correct object is somebody's. Otherwise a write of our own is still due.
  const bool was_right = plan_.IsRight();
  const base::TimePoint now = scheduler_.Now();
  plan_.OnLive(now, live, true_if_older);
  verified_ = {};
  if (std::exchange(raced_, false)) not_before_ = now;  // this is what the first writer stored
  if (was_right && plan_.Next() && !leaving_) OnForeignChange();
  // Beside the CA of another daemon, something that cannot wait was changed meanwhile.
  const bool urgent = slow_repair_ && plan_.Next() && !plan_.HasOtherDaemonsCa();
  if (urgent) Repair(now);
  SayForeign();
  if (plan_.IsRight()) {  // if another replica repaired it, that one emits the Event
    damage_.clear();
    slow_repair_ = false;
    repair_at_ = {};
  }
  alarm_->Wake();
}

void WebhookKeeper::Repair(base::TimePoint now) {
  slow_repair_ = plan_.HasOtherDaemonsCa();
  repair_at_ = pace_.Changed(now, slow_repair_);
}

void WebhookKeeper::OnForeignChange() {
  const base::TimePoint now = scheduler_.Now();
  if (repaired_ + kQuiet < now) repairs_ = 0;
  repaired_ = now;
  ++repairs_;
  damage_ = plan_.live() == nullptr ? "deleted" : "changed";
  Repair(now);
  if (repairs_ == 1) {
    LOG(WARNING) << "webhook configuration was changed by somebody else and is repaired name="
                 << plan_.name();
  } else if (repairs_ == kFight) {
    LOG(ERROR) << "webhook configuration is changed repeatedly by "
               << (slow_repair_ ? "a replica with a certificate of its own, so repairs wait longer"
                                : "somebody who wants other rules")
               << "; further repairs are not logged name=" << plan_.name();
  }
}

void WebhookKeeper::SayForeign() {
  if (std::exchange(said_foreign_, plan_.IsForeign()) || !said_foreign_) return;
  LOG(ERROR) << "webhook configuration is somebody else's: " << plan_.Missing()
             << " name=" << plan_.name();
}

void WebhookKeeper::SayRepaired(const std::string& damage) {
  if (damage.empty() || options_.events == nullptr || plan_.live() == nullptr) return;
  const json::Value& live = *plan_.live();
  client::Event event;
  event.about = {.api_version = kWebhookConfigurations.GroupVersion(),
                 .kind = "ValidatingWebhookConfiguration",
                 .ns = "",
                 .name = plan_.name(),
                 .uid = std::string(api::Uid(live)),
                 .resource_version = std::string(api::ResourceVersion(live))};
  event.type = client::EventType::kWarning;
  event.reason = "WebhookConfigurationRestored";
  event.message = "It was " + damage +
                  " by somebody else and has been restored. quota-controller-manager maintains it: "
                  "its content follows from the quotas and the daemon's flags.";
  options_.events->Record(std::move(event));
}

// With failurePolicy Fail the first rule refuses all requests until the Service routes to a
// replica, so it waits until one is reachable.
void WebhookKeeper::NoticeAnswers() {
  if (!plan_.WaitsToBegin()) return;
  const base::TimePoint now = scheduler_.Now();
  if (!answers_()) return answers_since_.reset();
  if (!answers_since_) answers_since_ = now;
  if (*answers_since_ + options_.until_routed <= now) plan_.Begin();
}

void WebhookKeeper::Advance() {
  NoticeAnswers();
  LearnLeader();
  plan_.Advance(scheduler_.Now());
  if (!plan_.Next()) {  // another replica may have written
    trouble_.clear();
    told_.Solve();
  }
  if (plan_.TakeChanged()) listener_.OnStoredRules();
  SayOpen();
}

void WebhookKeeper::SayOpen() {
  if (std::exchange(said_open_, plan_.IsOpen()) == plan_.IsOpen()) return;
  if (plan_.IsOpen()) {
    LOG(ERROR) << "webhook configuration is held open, nothing is refused: " << plan_.WhyOpen()
               << " name=" << plan_.name();
  } else {
    LOG(INFO) << "webhook configuration is maintained again name=" << plan_.name();
  }
}

// Looks up the owner before it is written: with the UID of a former owner of the same name, garbage
// collection would delete the object at once. False: write nothing now, because the owner cannot be
// read, or is gone, and the installation with it.
base::Task<bool> WebhookKeeper::FindOwner() {
  for (const std::string& name : options_.owner_roles) {
    const auto uid = co_await UidOf(name);
    if (uid && !uid->empty()) {
      has_owner_ = true;
      plan_.SetOwner(json::Object{{"apiVersion", kClusterRoles.GroupVersion()},
                                  {"kind", "ClusterRole"},
                                  {"name", name},
                                  {"uid", *uid}});
      co_return true;
    }
    // Forbidden counts as none: each kind of installation may read only its own ClusterRole.
    if (uid) continue;
    if (!uid.error().Is(base::ErrorCode::kCancelled)) OnRefused(uid.error());
    co_return false;
  }
  if (!has_owner_) co_return true;  // another way of installing may have no ClusterRole
  OnRefused(
      {.code = base::ErrorCode::kNotFound,
       .message = "the ClusterRole that owns it was deleted: the installation is being removed"});
  co_return false;
}

// "" if there is none, or reading it is forbidden.
base::Task<base::Result<std::string>> WebhookKeeper::UidOf(std::string role) {
  client::ApiRequest request;
  request.path = kClusterRoles.Path({}, role);
  request.timeout = options_.write_timeout;
  const auto found = co_await client::DoJson(client_, std::move(request));
  if (found) co_return std::string(api::Uid(*found));
  const bool none =
      found.error().Is(base::ErrorCode::kNotFound) || found.error().Is(base::ErrorCode::kForbidden);
  if (none) co_return std::string();
  co_return found.error();
}

std::string WebhookKeeper::LiveVersion() const {
  return plan_.live() == nullptr ? "" : std::string(api::ResourceVersion(*plan_.live()));
}

base::TimePoint WebhookKeeper::WritesAt() const {
  if (leaving_ || !plan_.Next()) return base::TimePoint::max();
  return std::max(not_before_, repair_at_);
}

base::TimePoint WebhookKeeper::NextLook() const {
  base::TimePoint next = scheduler_.Now() + kLongestWait;
  if (const auto deadline = plan_.NextDeadline()) next = std::min(next, *deadline);
  if (plan_.IsOpen() && options_.leader) {
    next = std::min(next, scheduler_.Now() + kLookForLeader);
  }
  if (plan_.WaitsToBegin()) next = std::min(next, scheduler_.Now() + kLookForAnswers);
  return next;
}

client::ApiRequest WebhookKeeper::RequestFor(const WebhookPlan::Write& write) const {
  client::ApiRequest request;
  request.verb = write.create ? "POST" : "PATCH";
  request.path = kWebhookConfigurations.Path({}, write.create ? "" : plan_.name());
  request.content_type = write.create ? client::kJson : client::kMergePatch;
  request.body = json::Write(write.body);
  request.timeout = options_.write_timeout;
  return request;
}

base::Task<void> WebhookKeeper::Write() {
  std::optional<WebhookPlan::Write> write = plan_.Next();
  if (write && (write->create || write->body.At({"metadata", "ownerReferences"}) != nullptr)) {
    if (!co_await FindOwner()) co_return;
    write = plan_.Next();  // the plan may have changed meanwhile
  }
  if (!write || leaving_) co_return;
  const bool created = write->create;
  // The change that this write repairs. The watch event of the write may arrive before the answer
  // and clear damage_.
  std::string damage = std::exchange(damage_, "");
  client::ApiRequest request = RequestFor(*write);
  sent_for_ = LiveVersion();
  const auto stored = co_await client::DoJson(client_, std::move(request));
  if (stored) {
    OnWritten(*stored, created);
    SayRepaired(damage);
    co_return;
  }
  if (damage_.empty() && !plan_.IsRight()) damage_ = std::move(damage);
  if (!stored.error().Is(base::ErrorCode::kCancelled)) OnRefused(stored.error());
}

void WebhookKeeper::OnWritten(const json::Value& stored, bool created) {
  const base::TimePoint now = scheduler_.Now();
  const bool fights = repairs_ >= kFight && now - repaired_ < kQuiet;
  LOG_IF(INFO, !fights) << "webhook configuration " << (created ? "created" : "updated")
                        << " name=" << plan_.name();
  // The watch may be ahead of the answer: since then the object may have been deleted, or replaced.
  const std::string& shown = reflector_->state().resource_version;
  written_ = true;
  if (!api::ReachesVersion(shown, api::ResourceVersion(stored))) {
    plan_.OnLive(now, &stored);
    ahead_ = true;
  }
  if (plan_.IsDesired(stored)) {
    retry_.Reset();  // if somebody has changed it since, that is a change to repair
  } else {
    // The server stored something else, or something else is wanted meanwhile: wait, do not loop.
    not_before_ = now + retry_.Next(now);
  }
}

void WebhookKeeper::OnRefused(const base::Error& error) {
  const base::TimePoint now = scheduler_.Now();
  not_before_ = now + retry_.Next(now, error.retry_after);
  // Somebody else wrote first. The watch delivers that version, or did so already.
  if (error.Is(base::ErrorCode::kConflict) || error.Is(base::ErrorCode::kAlreadyExists)) {
    raced_ = LiveVersion() == sent_for_;
    if (!raced_) not_before_ = now;
    return;
  }
  trouble_ = error.message;
  if (!told_.Meet(trouble_, now)) return;
  LOG(WARNING) << "webhook configuration cannot be written name=" << plan_.name()
               << " error=" << json::Quote(error.message);
}

}  // namespace webhook
