// Namespaces with labels and ClusterQuotas: performs their actions, and probes at rest what each
// replica admits.

#include <algorithm>

#include "tests/simulation/tree.h"
#include "tests/simulation/world_clients.h"

namespace simulation {
namespace {

using std::chrono_literals::operator""ms;

std::string Numbered(const char* what, int number) { return what + std::to_string(number); }

// The labels "team" and "tier".
Labels LabelsOf(const Action& action) {
  Labels labels;
  for (const char* label : {"team", "tier"}) {
    if (action.numbers.contains(label)) labels[label] = std::to_string(action.Get(label));
  }
  return labels;
}

InTree PlaceOf(const Action& action) {
  InTree place;
  const Labels selected = LabelsOf(action);
  if (!selected.empty() || action.Get("all") != 0) place.selector = selected;
  if (action.numbers.contains("parent")) place.parent = Numbered("quota", action.Get("parent"));
  const std::pair<const char*, const char*> names[] = {
      {"gstorage", kStorage}, {"gclaims", kClaimCount}, {"gsecrets", kSecretCount}};
  for (const auto& [number, name] : names) {
    if (action.numbers.contains(number)) place.guaranteed[name] = action.Get(number);
  }
  place.mode = static_cast<InTree::Mode>(action.Get("mode") % 3);
  return place;
}

// One request under all quotas that reach it, at rest.
class Fitting {
 public:
  Fitting(const Server& server, const Thing& thing) : server_(server), thing_(thing) {}

  [[nodiscard]] bool In(const StoredQuota& quota) const {
    const Amounts use = server_.TrueUse(quota);
    const Amounts amounts = server_.CountedBy(quota, thing_);
    return std::ranges::all_of(amounts, [&](const auto& amount) {
      const auto& [name, more] = amount;
      if (!quota.hard.contains(name) || more == 0) return true;
      const std::int64_t limit = quota.hard.at(name);
      if (Sum(Get(use, name), more) > limit) return false;
      std::int64_t held = 0;
      std::int64_t taken = 0;
      for (const StoredQuota* child : Below(quota, server_.quotas())) {
        const std::int64_t grows = Get(server_.CountedBy(*child, thing_), name);
        const std::int64_t promised = PromisedTo(*child, name);
        held += std::max<std::int64_t>(0, promised - grows);
        taken += std::min(promised, child->hard.contains(name) ? grows : 0);
      }
      return more <= taken || Get(use, name) + more + held <= limit;
    });
  }

  [[nodiscard]] std::int64_t PromisedTo(const StoredQuota& child, const std::string& name) const {
    const Amounts guaranteed = GuaranteedTo(child);
    if (!guaranteed.contains(name)) return 0;
    return std::max<std::int64_t>(0, guaranteed.at(name) - Get(server_.TrueUse(child), name));
  }

 private:
  const Server& server_;
  const Thing& thing_;
};

bool WouldRefuse(const admission::Answer& answer, const std::string& quota) {
  return std::ranges::any_of(answer.would_refuse,
                             [&](const auto& tried) { return tried.would.quota.name == quota; });
}

}  // namespace

bool World::PerformOnTree(const Action& action) {
  const std::string ns = Numbered("ns", action.Get("ns"));
  const Server::Key quota{"", Numbered("quota", action.Get("quota"))};
  const Server::Key own{ns, Numbered("own", action.Get("own"))};
  if (action.what == "namespace") {
    server_.PutNamespace(ns, LabelsOf(action));
  } else if (action.what == "delete-namespace") {
    server_.RemoveNamespace(ns);
  } else if (action.what == "terminate-namespace") {
    const StoredNamespace* const stored = server_.FindNamespace(ns);
    if (stored == nullptr || stored->going) return true;
    server_.MarkNamespace(ns);
    Empty(ns, stored->uid, std::max(1, action.Get("ms")) * 1ms);
  } else if (action.what == "own-quota") {
    if (server_.TakesNew(ns)) server_.PutQuota(own, LimitsOf(action), IsGold(action));
  } else if (action.what == "delete-own-quota") {
    server_.RemoveQuota(own);
  } else if (action.what == "children") {
    PutChildren(action);
  } else if (action.what == "quota") {
    server_.PutQuota(quota, LimitsOf(action), IsGold(action), PlaceOf(action));
  } else if (action.what == "delete-quota") {
    server_.RemoveQuota(quota);
  } else {
    return PerformOnStatus(action, action.numbers.contains("own") ? own : quota);
  }
  return true;
}

// Many quotas below one, all at once. Every tenth has a guarantee, and the first ones select the
// namespaces of a team.
void World::PutChildren(const Action& action) {
  server_.PutAtOnce([&] {
    for (int i = 0; i < action.Get("count"); ++i) {
      InTree place;
      place.parent = Numbered("quota", action.Get("quota"));
      if (i < action.Get("teams")) place.selector = Labels{{"team", std::to_string(i)}};
      if (i % 10 == 0) place.guaranteed[kStorage] = 1;
      server_.PutQuota({"", Numbered("child", i)}, {.hard = {{kStorage, 9}}}, false, place);
    }
  });
}

// Removes the objects of a terminating namespace one by one, and the namespace last.
void World::Empty(const std::string& ns, const std::string& uid, base::Duration pause) {
  timeline_.After(pause, [this, ns, uid, pause] {
    const StoredNamespace* const stored = server_.FindNamespace(ns);
    // The uid differs if a namespace of this name was created again.
    if (stored == nullptr || stored->uid != uid || !stored->going) return;
    if (!server_.away() && !server_.RemoveOneIn(ns)) return server_.RemoveNamespace(ns);
    Empty(ns, uid, pause);
  });
}

// All replicas that watch namespaces and quotas have seen the last change of labels and specs.
bool World::TreeShown() const {
  return std::ranges::all_of(replicas_, [this](const auto& replica) {
    const auto shown = [&](Resource resource, std::uint64_t version) {
      const std::uint64_t up_to = replica->link().Shown(resource);
      return replica->stopping() || up_to == 0 || up_to >= version;
    };
    return shown(Resource::kNamespaces, server_.labels_version()) &&
           shown(Resource::kClusterQuotas, server_.specs_version());
  });
}

// All quotas over this namespace could be read and counted.
bool World::IsKnown(const std::string& ns) const {
  const Thing claim{.ns = ns, .gold = true};
  return std::ranges::all_of(server_.quotas(), [&](const auto& entry) {
    const StoredQuota& quota = entry.second;
    const bool known = server_.TrueUse(quota).size() == quota.hard.size();
    return !Matches(quota, claim) || (known && quota.unread.empty());
  });
}

// Probes amounts around each limit and each guarantee.
void World::ProbeTree() {
  for (const auto& [name, ns] : server_.namespaces()) {
    Thing claim{.ns = name, .name = "probe", .gold = true};
    std::set<std::int64_t> sizes;
    const bool exact = IsExact(name);
    bool huge = schedule_.odd;  // no quota has room for it, but some quotas only warn
    for (const auto& [key, quota] : server_.quotas()) {
      if (!Matches(quota, claim) || !quota.hard.contains(kStorage)) continue;
      huge = huge && quota.hard.at(kStorage) < kMost;
      if (!exact) continue;
      const Fitting fitting(server_, claim);
      std::int64_t left = Get(quota.hard, kStorage) - Get(server_.TrueUse(quota), kStorage);
      sizes.insert({left, left + 1});
      for (const StoredQuota* child : Below(quota, server_.quotas())) {
        left -= fitting.PromisedTo(*child, kStorage);
      }
      sizes.insert({left, left + 1});
    }
    if (huge && IsKnown(name)) sizes.insert(kMost);
    for (const std::int64_t size : sizes) {
      if (size < 0 || judge_.violation()) continue;
      claim.size = size;
      claim.uid = server_.NewUid();
      ProbeTreeWith(claim);
    }
  }
}

void World::ProbeTreeWith(const Thing& claim) {
  bool fits = true;
  for (const auto& [key, quota] : server_.quotas()) {
    fits = fits && (!quota.enforced() || Fitting(server_, claim).In(quota));
  }
  const std::string what = "at rest a claim of " + std::to_string(claim.size) + " in " + claim.ns;
  for (const auto& replica : replicas_) {
    const auto answer = ProbeAnswer(*replica, claim);
    const bool admitted = answer && answer->kind == admission::Answer::Kind::kAllowed;
    if (admitted != fits) {
      std::string text = what;
      text += fits ? " fits, and is refused by " : " does not fit, and is admitted by ";
      text += replica->name();
      if (answer) text.append(": ").append(answer->message);
      judge_.Violation(text);
    }
    if (!admitted) continue;
    for (const auto& [key, quota] : server_.quotas()) {
      if (quota.enforced()) continue;
      const bool in = Fitting(server_, claim).In(quota);
      if (in != WouldRefuse(*answer, quota.name)) continue;
      judge_.Violation(what +
                       (in ? " fits, and is told not to fit in " : " is not told not to fit in ") +
                       quota.name + " by " + replica->name());
    }
  }
}

}  // namespace simulation
