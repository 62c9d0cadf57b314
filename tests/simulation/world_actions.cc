// Performs the actions of a schedule, which gives their numbers a meaning.

#include "tests/simulation/world_clients.h"

namespace simulation {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

// The lag of the API server's own watches.
constexpr base::Duration kHears = 50ms;

Server::Key KeyOf(const Action& action, const char* what) {
  std::string ns = "ns";
  std::string name = what;
  ns += std::to_string(action.Get("ns"));
  name += std::to_string(action.Get(what));
  return {std::move(ns), std::move(name)};
}

}  // namespace

SpecLimits LimitsOf(const Action& action) {
  SpecLimits limits;
  Amounts& hard = limits.hard;
  const std::pair<const char*, const char*> names[] = {
      {"storage", kStorage}, {"claims", kClaimCount}, {"secrets", kSecretCount},
      {"cpu", kCpu},         {"memory", kMemory},     {"machines", kMachineCount}};
  for (const auto& [number, name] : names) {
    if (action.numbers.contains(number)) hard[name] = action.Get(number);
  }
  if (action.Get("huge") != 0 && hard.contains(kStorage)) hard[kStorage] = kMost;
  const char* const unread = action.Get("unread") == 1 ? kStorage : kClaimCount;
  if (action.Get("unread") != 0 && hard.erase(unread) > 0) limits.unread.insert(unread);
  if (action.Get("scope") != 0) {
    limits.scope = action.Get("scope");
    for (const auto& [name, limit] : hard) limits.unread.insert(name);
    limits.said = std::exchange(hard, {});
  }
  return limits;
}

bool IsGold(const Action& action) { return action.Get("gold") != 0 && action.Get("scope") != 2; }

namespace {

// 1: beyond what 128 bits of 10^-9 can hold; 2: below that, but twice as much is beyond.
std::int64_t SizeOf(const Action& action) {
  const int huge = action.Get("huge");
  return huge == 0 ? action.Get("size") : kMost + (huge == 1 ? 0 : 1);
}

}  // namespace

namespace {

// 0: the quotas; 1: claims or machines; 2: secrets or classes; 3: namespaces; 4: the ClusterQuotas
// beside quotas of core.
Resource ResourceOf(const Action& action, Api api) {
  const auto resource = static_cast<Resource>(action.Get("resource") % 3);
  if (HasTree(api) && action.Get("resource") == 3) return Resource::kNamespaces;
  const int quotas = api == Api::kCluster ? 0 : 4;
  if (HasTree(api) && action.Get("resource") == quotas) return Resource::kClusterQuotas;
  if (api != Api::kIroncore || resource == Resource::kQuotas) return resource;
  return resource == Resource::kClaims ? Resource::kMachines : Resource::kClasses;
}

std::optional<RequestFault::Kind> FaultKind(const std::string& what) {
  if (what == "lose") return RequestFault::Kind::kLoseAnswer;
  if (what == "hang") return RequestFault::Kind::kHang;
  if (what == "drop") return RequestFault::Kind::kDrop;
  if (what == "fail") return RequestFault::Kind::kFail;
  if (what == "err") return RequestFault::Kind::kError;
  if (what == "slow") return RequestFault::Kind::kSlow;
  return std::nullopt;
}

}  // namespace

void World::EndsIn(base::Duration duration) {
  faults_end_ = std::max(faults_end_, timeline_.Now() + duration);
  judge_.OnTroubleUntil(timeline_.Now() + duration);
}

void World::Perform(const Action& action) {
  judge_.Touch();
  if (judge_.narrates()) judge_.Narrate(ToText(action));
  if (PerformOnReplica(action) || PerformOnServer(action) || server_.away()) return;
  if (HasTree(schedule_.api) ? PerformOnTree(action) : PerformOnQuota(action)) return;
  if (schedule_.api == Api::kIroncore) return PerformOnMachines(action);
  const bool secret = action.what == "secret" || action.Get("secret") != 0;
  const Resource resource = secret ? Resource::kSecrets : Resource::kClaims;
  const Server::Key key = KeyOf(action, "name");
  if (action.what == "delete") return Delete(action, resource, key);
  if (action.what == "unreadable") return StoreUnreadable(key);
  if (action.what != "secret" && action.what != "claim") {
    return judge_.Violation("no such action: " + action.what);
  }
  if (!server_.HasNamespace(key.first)) return;
  Start({.resource = resource,
         .key = key,
         .size = SizeOf(action),
         .gold = action.Get("gold") != 0,
         .calls = std::max(1, action.Get("calls")),
         .to = action.Get("to"),
         .store = action.Get("store"),
         .slow = action.Get("slow"),
         .late = action.Get("late"),
         .stale = action.Get("stale") != 0,
         .dry_run = action.Get("dry") != 0,
         .create = action.Get("create") != 0,
         .old = action.Get("old") != 0});
}

void World::Delete(const Action& action, Resource resource, const Server::Key& key) {
  action.Get("keep") != 0 ? server_.Mark(resource, key) : server_.Remove(resource, key);
}

bool World::PerformOnQuota(const Action& action) {
  const Server::Key key = KeyOf(action, "quota");
  if (action.what == "quota") {
    server_.PutQuota(key, LimitsOf(action), IsGold(action));
  } else if (action.what == "delete-quota") {
    server_.RemoveQuota(key);
  } else {
    return PerformOnStatus(action, key);
  }
  return true;
}

bool World::PerformOnReplica(const Action& action) {
  const auto index = static_cast<std::size_t>(action.Get("replica")) % replicas_.size();
  const Resource resource = ResourceOf(action, schedule_.api);
  const base::Duration time = action.Get("ms") * 1ms;
  Replica& replica = *replicas_[index];
  Link& link = replica.link();
  if (const auto kind = FaultKind(action.what)) {
    link.Suffer({*kind, action.Get("writes") != 0, std::max(1, action.Get("count")), time});
    judge_.OnTrouble();
  } else if (action.what == "pause") {
    replica.Pause(time);
    EndsIn(time + 4s);  // until then a replica takes back nothing
  } else if (action.what == "kill" || action.what == "stop") {
    Restart(index, action.what == "kill", action.Get("down") * 1ms);
  } else if (action.what == "cut") {
    link.CutWatches(resource);
    EndsIn(3s);
  } else if (action.what == "expire") {
    link.Expire(resource);
    EndsIn(3s);
  } else if (action.what == "lag") {
    link.Lag(resource, time);
    if (time > kLongestLag) silent_until_ = std::max(silent_until_, timeline_.Now() + time);
    EndsIn(time);
  } else if (action.what == "block") {
    link.Block(resource, time);
    EndsIn(time + 12s);  // the longest pause between two attempts
  } else {
    return false;
  }
  return true;
}

bool World::PerformOnServer(const Action& action) {
  const std::string name = "webhook" + std::to_string(action.Get("name"));
  if (action.what == "backup") {
    server_.Backup();
  } else if (action.what == "restore") {
    Restore(action.Get("away") * 1ms, action.Get("silent") != 0);
  } else if (action.what == "webhook" || action.what == "delete-webhook") {
    if (!server_.away()) server_.PutWebhook(name, action.Get("seconds"));
    // The API server also learns it from a watch, a moment later.
    timeline_.After(kHears, [this] { slowest_webhook_ = server_.SlowestWebhook(); });
  } else {
    return false;
  }
  return true;
}

// The server is away for longer than any request takes, and longer than a leader may lead without
// renewing its lease.
void World::Restore(base::Duration away, bool silent) {
  if (server_.away()) return;
  server_.SetAway();
  for (const auto& replica : replicas_) replica->link().CutAll();
  // A replica checks a watch that was silent for 150 s by its own clock, which may be the slowest.
  EndsIn(away + (silent ? 180s : 20s));
  timeline_.After(away, [this, silent] {
    server_.Restore(silent);
    slowest_webhook_ = server_.SlowestWebhook();
    judge_.OnPutBack();
    AwaitLaterFormats();
  });
}

void World::Restart(std::size_t index, bool kill, base::Duration down) {
  if (restarting_[index]) return;
  restarting_[index] = true;
  kill ? replicas_[index]->Kill() : replicas_[index]->Stop();
  EndsIn(down);
  timeline_.After(down, [this, index] { StartReplica(index); });
}

}  // namespace simulation
