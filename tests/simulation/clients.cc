// Clients of the API server, and the steps of the server for one write. It reads the object,
// sometimes from a cache that lags. It calls the webhook, sometimes several times, each time with
// the object as it is stored at that moment. It stores an admitted object at once, late, or never,
// and only if the object still has the version of the last call. Otherwise the write starts again.

#include "tests/simulation/world_clients.h"

namespace simulation {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

constexpr int kAttempts = 4;  // limits the retries after conflicts
// The API server does not wait longer for a webhook.
constexpr base::Duration kWebhookTimeout = 7s;

api::GroupVersionResource KindOf(Resource resource) {
  if (resource == Resource::kMachines) return {"compute.ironcore.dev", "v1alpha1", "machines"};
  return {"", "v1", resource == Resource::kClaims ? "persistentvolumeclaims" : "secrets"};
}

// Copies the fields that this client does not write.
void KeepOthersWord(const Thing& stored, Thing& wanted) {
  wanted.terminated = stored.terminated;
  wanted.going = stored.going;
}

}  // namespace

void World::Start(const Write& write) {
  clients_.Spawn("client", [this, write] { return Perform(write); });
}

Thing World::Wanted(const Write& write, const Thing* stored) {
  Thing wanted;
  if (stored != nullptr) wanted = *stored;
  wanted.resource = write.resource;
  wanted.ns = write.key.first;
  wanted.name = write.key.second;
  wanted.size = write.size;
  wanted.gold = write.gold;
  wanted.of = write.of;
  if (stored == nullptr) wanted.uid = server_.NewUid();
  return wanted;
}

base::Task<void> World::Perform(Write write) {
  const int restores = server_.restores();
  const auto lost = [&] {
    const bool gone = !server_.HasNamespace(write.key.first);
    return gone || server_.away() || server_.restores() != restores;
  };
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const Thing* stored = server_.FindThing(write.resource, write.key);
    if (write.create) stored = nullptr;
    const bool exists = stored != nullptr;
    if (!exists && !server_.TakesNew(write.key.first)) co_return;
    Thing wanted = Wanted(write, stored);
    std::uint64_t version = exists ? stored->version : 0;
    base::TimePoint others_done{};
    const bool admitted = co_await AskAll(write, wanted, &version, &others_done);
    if (write.store < 0 || write.dry_run || lost()) co_return;
    if (admitted) {
      const base::Duration waits = std::max(others_done - timeline_.Now(), base::Duration::zero());
      co_await timeline_.scheduler().Sleep(waits + write.store * 1ms);
    }
    if (lost()) co_return;
    const Thing* now = server_.FindThing(write.resource, write.key);
    if (exists != (now != nullptr)) co_return;  // created or deleted meanwhile
    const bool outdated = now != nullptr && now->version != version;
    // A refusal is not final if the cache showed an outdated object: the server reads live and asks
    // again.
    if (!admitted && !(outdated && write.stale)) co_return;
    write.late = 0;
    write.stale = false;
    if (outdated) continue;
    if (now != nullptr) KeepOthersWord(*now, wanted);
    server_.Store(wanted);
    co_return;
  }
}

// Each call shows the object as it is stored at that moment. `version` becomes the version of the
// last call. Webhooks of others are called at the same time as ours. At `others_done` those of the
// last call have answered.
base::Task<bool> World::AskAll(Write write, Thing wanted, std::uint64_t* version,
                               base::TimePoint* others_done) {
  int to = write.to;
  for (int call = 0; call < write.calls; ++call, to /= 10) {
    const bool cached = write.stale && call == 0;
    const Thing* stored = cached ? server_.FindEarlier(write.resource, write.key)
                                 : server_.FindThing(write.resource, write.key);
    if (write.create) stored = nullptr;
    std::optional<Thing> before;
    if (stored != nullptr && stored->uid == wanted.uid) before = *stored;
    if (*version != 0 && !before) co_return false;  // deleted meanwhile
    if (before) *version = before->version;
    if (before) KeepOthersWord(*before, wanted);
    if (write.old) co_return co_await AskOld(before, wanted);
    const Asked asked = AskedFor(static_cast<std::size_t>(to % 10));
    const base::Duration way = Way() + (call == 0 ? write.late : 0) * 1ms;
    const base::Duration others = write.slow * 1ms;
    *others_done = timeline_.Now() + std::min(others, slowest_webhook_);
    const auto answer = co_await Ask(asked, before, wanted, write.dry_run, way);
    if (!answer || answer->kind != admission::Answer::Kind::kAllowed) co_return false;
  }
  co_return true;
}

World::Asked World::AskedFor(std::size_t digit) const {
  const std::size_t replicas = replicas_.size();
  return {replicas_[digit % replicas].get(), replicas_[digit / replicas % replicas].get()};
}

// 0.1 to 5 ms, most of them short.
base::Duration World::Way() {
  const auto drawn = random_() % 1'000;
  return std::chrono::microseconds(100 + (drawn * drawn) / 200);
}

// Calls the webhook that has the shared rule, that of the other quota API, or both at the same
// time, perhaps at two replicas: API servers learn of a configuration at any time. Each call
// decides for both quota APIs.
base::Task<std::optional<admission::Answer>> World::Ask(Asked asked, std::optional<Thing> before,
                                                        Thing after, bool dry_run,
                                                        base::Duration way) {
  const bool joint = schedule_.api == Api::kJoint;
  if (joint && schedule_.lagging && random_() % 3 == 0) {
    co_return co_await AskOne(1, *asked.second, before, after, dry_run, way);
  }
  if (!joint || schedule_.shared) {
    co_return co_await AskOne(0, *asked.first, before, after, dry_run, way);
  }
  const auto other = std::make_shared<Call>();
  other->alarm = timeline_.scheduler().NewAlarm();
  Replica* const second = asked.second;
  clients_.Spawn("second webhook", [=, this]() -> base::Task<void> {
    auto answer = co_await AskOne(1, *second, before, after, dry_run, way);
    other->answer = std::move(answer);
    other->ended = true;
    other->alarm->Wake();
  });
  auto answer = co_await AskOne(0, *asked.first, before, after, dry_run, way);
  while (!other->ended) co_await other->alarm->WaitUntil(base::TimePoint::max());
  const bool allowed = answer && answer->kind == admission::Answer::Kind::kAllowed;
  if (!allowed || !other->answer) co_return allowed ? other->answer : answer;
  auto& would_refuse = other->answer->would_refuse;
  would_refuse.insert(would_refuse.end(), answer->would_refuse.begin(), answer->would_refuse.end());
  co_return other->answer;
}

base::Task<std::optional<admission::Answer>> World::AskOne(std::size_t quota_api, Replica& replica,
                                                           std::optional<Thing> before, Thing after,
                                                           bool dry_run, base::Duration way) {
  const base::TimePoint deadline = timeline_.Now() + kWebhookTimeout;
  admission::Review review;
  review.uid = "call-" + std::to_string(++calls_);
  review.resource = KindOf(after.resource);
  review.operation = before ? admission::Operation::kUpdate : admission::Operation::kCreate;
  review.ns = after.ns;
  review.name = after.name;
  review.dry_run = dry_run;
  review.object = json::Parse(ToJson(after)).value();
  if (before) review.old_object = json::Parse(ToJson(*before)).value();
  Plant(planted_, calls_, review);
  co_await timeline_.scheduler().Sleep(way);
  if (!replica.serving()) co_return std::nullopt;  // failurePolicy: Fail
  if (!dry_run) judge_.OnCall(replica.name(), before ? &*before : nullptr, after);
  const base::TimePoint asked = timeline_.Now();
  const auto call = std::make_shared<Call>();
  call->alarm = timeline_.scheduler().NewAlarm();
  replica.Ask(quota_api, std::move(review),
              [this, call, before, after, asked](const admission::Answer& answer) {
                judge_.OnAnswer(before ? &*before : nullptr, after, answer, asked);
                timeline_.After(Way(), [call, answer] {
                  call->answer = answer;
                  call->alarm->Wake();
                });
              });
  while (!call->answer && timeline_.Now() < deadline) co_await call->alarm->WaitUntil(deadline);
  co_return call->answer;
}

}  // namespace simulation
