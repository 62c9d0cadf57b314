// Others that write the status of a quota: kube-controller-manager, the API server's own plugin, a
// replica of an older version, a person.

#include <algorithm>

#include "tests/simulation/world_clients.h"

namespace simulation {
namespace {

using std::chrono_literals::operator""s;

// A list of a later format is left alone for 42.4 s, by the slowest clock, from when a replica sees
// it: the only one may be away for 25 s.
constexpr base::Duration kLeavesAlone = 48s + 25s;

// Of a quota in another cluster.
constexpr const char* kUidElsewhere = "00000000-0000-4000-9999-000000000001";

}  // namespace

bool World::PerformOnStatus(const Action& action, const Server::Key& key) {
  if (action.what == "recount") {
    Recount(key);
  } else if (action.what == "raise") {
    Raise(key, action.Get("by"));
  } else if (action.what == "edit") {
    Edit(key, action.Get("what"));
  } else if (action.what == "garble") {
    Garble(action, key);
  } else if (action.what == "forge") {
    Forge(key, action.Get("what"));
  } else {
    return false;
  }
  return true;
}

// As kube-controller-manager does: only stored objects count, so the reservations are lost.
void World::Recount(const Server::Key& key) {
  const StoredQuota* quota = server_.FindQuota(key);
  if (quota == nullptr) return;
  const Amounts truth = server_.TrueUse(*quota);
  const Amounts used = quota->status_used.value_or(Amounts());
  for (const auto& [name, amount] : truth) {
    if (amount > Get(used, name)) judge_.OnExternalRaise(*quota, name, amount - Get(used, name));
  }
  // Before the write: the judge checks a status as soon as it is stored.
  judge_.OnExternalLowering(*quota);
  server_.WriteStatus(key, quota->hard, truth);
}

// As the API server's own plugin does, for an object that is never stored.
void World::Raise(const Server::Key& key, std::int64_t by) {
  const StoredQuota* quota = server_.FindQuota(key);
  if (quota == nullptr || !quota->status_hard || !quota->status_used) return;
  Amounts used = *quota->status_used;
  if (used.empty()) return;
  used.begin()->second = Sum(used.begin()->second, by);
  judge_.OnExternalRaise(*quota, used.begin()->first, by);
  server_.WriteStatus(key, *quota->status_hard, used);
}

// A person edits the other fields of the status: 0 removes the reservations, 1 replaces them with
// invalid text, 2 changes the place of a ClusterQuota in the tree.
void World::Edit(const Server::Key& key, int what) {
  const StoredQuota* quota = server_.FindQuota(key);
  if (quota == nullptr || HasLaterFormat(*quota)) return;
  if (what == 2) {
    json::Object further = quota->further;
    if (further.Contains("namespaces")) further.Set("namespaces", 99);
    if (further.Contains("children")) further.Set("children", 99);
    return server_.WriteFurther(key, further);
  }
  judge_.OnTrouble();  // a replica that reads the reservations finds none
  if (!quota->reservations.empty()) server_.WriteReservations(key, what == 0 ? "" : "nothing");
}

// One amount of the status: 0 the used one, 1 the limit.
void World::Garble(const Action& action, const Server::Key& key) {
  static constexpr const char* kTexts[] = {kGarbage, "1e30", "-500", "9223372036854775807E"};
  const StoredQuota* quota = server_.FindQuota(key);
  if (quota == nullptr || !quota->status_hard || !quota->status_used) return;
  const bool used = action.Get("what") == 0;
  const Amounts& amounts = used ? *quota->status_used : *quota->status_hard;
  if (amounts.empty()) return;
  const std::string name = amounts.begin()->first;
  const std::string text = kTexts[action.Get("text") % 4];
  judge_.OnTrouble();
  judge_.OnExternalLowering(*quota, used ? name : "");
  if (used) judge_.OnExternalRaise(*quota, name, AmountIn(text).value_or(0));
  server_.WriteText(key, used, name, text);
}

// Replaces the list of reservations by one that no replica wrote for this quota: 0 that of another
// quota, 1 that of another cluster, 2 the same with a floor far ahead, 3 with an entry in the name
// of a replica, 4 with an entry of nobody. Or a later version of the daemon wrote it: 5 with a
// member that this one does not know, 6 with such a member in an entry, 7 in a format that it must
// not write, 8 in that format for another quota.
void World::Forge(const Server::Key& key, int what) {
  const StoredQuota* quota = server_.FindQuota(key);
  if (quota == nullptr || HasLaterFormat(*quota)) return;
  std::string text = quota->reservations;
  if (what == 0) {
    for (const auto& [other_key, other] : server_.quotas()) {
      if (other_key != key && !other.reservations.empty()) text = other.reservations;
    }
  } else if (what == 1) {
    text = R"({"floor":{"persistentvolumeclaims":"900000","secrets":"900000"},"writes":7,)"
           R"("used":{"persistentvolumeclaims":"3","requests.storage":"9"}})";
  }
  const auto parsed = json::Parse(text);
  json::Value list = parsed && parsed->IsObject() ? *parsed : json::Value(json::Object());
  if (what == 2) {
    const std::string ahead = std::to_string(server_.version() + 100'000);
    for (const char* of : {"persistentvolumeclaims", "secrets"}) list.Make({"floor", of}) = ahead;
  }
  if (what == 5) list.Make({"later"}) = json::Object{{"by", "newer"}};
  if (what == 7 || what == 8) {
    list.Make({"format"}) = 99;
    list.Make({"uid"}) = what == 7 ? quota->uid : kUidElsewhere;
  }
  const bool entries_change = what == 3 || what == 4 || what == 6;
  if (entries_change && list.At({"writes"}) != nullptr) {
    json::Object entry;
    entry.Set("by", what == 3 ? replicas_[0]->name() : "nobody");
    entry.Set("n", kFirstForged + what);
    entry.Set("usage", json::Object{{kStorage, "3"}});
    entry.Set("of", "persistentvolumeclaims");
    entry.Set("objects", quota::Uid::FromText(server_.NewUid()).ToShortText());
    if (what == 6) entry.Set("later", "newer");
    json::Value& entries = list.Make({"reservations"});
    if (!entries.IsArray()) entries = json::Array();
    entries.AsArray()->push_back(std::move(entry));
  }
  judge_.OnTrouble();
  if (what >= 2 && what != 8) judge_.OnExternalRaise(*quota, kStorage, 9);
  judge_.OnExternalLowering(*quota);
  if (!list.AsObject()->empty()) server_.WriteReservations(key, json::Write(list));
  AwaitLaterFormats();
}

void World::AwaitLaterFormats() {
  const bool any = std::ranges::any_of(
      server_.quotas(), [](const auto& entry) { return HasLaterFormat(entry.second); });
  if (any) EndsIn(kLeavesAlone);
}

// The API server of an older version stored it, or its kind allows any text.
void World::StoreUnreadable(const Server::Key& key) {
  const bool there = server_.FindThing(Resource::kClaims, key) != nullptr;
  if (there || !server_.TakesNew(key.first)) return;
  Thing claim{.ns = key.first, .name = key.second, .uid = server_.NewUid(), .size = kUnreadable};
  judge_.OnUnreadable(claim);
  server_.Store(std::move(claim));
}

// Raises `used` of each quota and adds no entry. It does not recognize repeated calls.
base::Task<bool> World::AskOld(std::optional<Thing> before, Thing after) {
  co_await timeline_.scheduler().Sleep(Way());
  std::vector<std::pair<Server::Key, Amounts>> raised;
  for (const auto& [key, quota] : server_.quotas()) {
    if (!quota.status_hard || !quota.status_used) continue;
    Amounts used = *quota.status_used;
    const Amounts old = before ? server_.CountedBy(quota, *before) : Amounts();
    for (const auto& [name, amount] : server_.CountedBy(quota, after)) {
      const std::int64_t growth = amount - Get(old, name);
      if (growth <= 0 || !quota.status_hard->contains(name)) continue;
      if (!used.contains(name)) co_return false;
      used[name] += growth;
      if (used[name] > quota.status_hard->at(name)) co_return false;
    }
    if (used != *quota.status_used) raised.emplace_back(key, std::move(used));
  }
  for (const auto& [key, used] : raised) {
    const StoredQuota& quota = *server_.FindQuota(key);
    for (const auto& [name, amount] : used) {
      const std::int64_t by = amount - Get(*quota.status_used, name);
      if (by > 0) judge_.OnExternalRaise(quota, name, by, after);
    }
    server_.WriteStatus(key, Amounts(*quota.status_hard), used);
  }
  co_return true;
}

}  // namespace simulation
