// Schedules of ClusterQuotas in trees, over namespaces that come, go, and get other labels.

#include <algorithm>
#include <set>

#include "tests/simulation/drawer.h"

namespace simulation {
namespace {

class ClusterDrawer final : public Drawer {
 public:
  using Drawer::Drawer;

  Schedule Draw(Api api, bool silent) {
    schedule_.api = api;
    DrawReplicas();
    DrawManner();
    if (schedule_.seed % 4 == 1) Contend();
    namespaces_ += 1 + Below(2);
    label_share_ = Percent(40) && !contends_ ? 0 : 2 + Below(10);
    spec_share_ = Percent(40) ? 1 : 3 + Below(10);
    if (api == Api::kJoint) DrawOwn();
    for (int ns = 0; ns < namespaces_; ++ns) {
      if (Percent(90)) PutNamespace(0, ns);
    }
    for (const int ns : wanted_own_) PutOwn(0, ns);
    quotas_ = 2 + Below(5);
    for (int quota = 0; quota < quotas_; ++quota) PutQuota(0, quota);
    const int calm = Percent(60) ? Below(20) : -1;  // after this pause all new quotas are counted
    const int actions = 20 + Below(60);
    for (int i = 0; i < actions; ++i) {
      const std::size_t next = schedule_.actions.size();
      Next();
      if (i == calm || (contends_ && i % 12 == 0)) schedule_.actions[next].after += 24'000;
    }
    MakeCrowded();
    MakeHarsh();
    if (silent) MakeSilent();
    KeepSome();
    AddEdits();
    AddDuplicates();
    if (schedule_.seed % 40 == 1) AddChildren();
    return std::move(schedule_);
  }

 private:
  static constexpr int kTeams = 3;
  static constexpr int kTiers = 2;
  static constexpr int kMostDeep = 3;

  // Three replicas, few namespaces, and many simultaneous creations: usage is mostly at the limits.
  void Contend() {
    contends_ = true;
    while (schedule_.clocks.size() < 3) schedule_.clocks.emplace_back();
    names_ += 6;
  }

  // Quotas in the namespaces themselves.
  void DrawOwn() {
    schedule_.lagging = Percent(50);
    schedule_.shared = schedule_.seed / 4 % 2 == 0;
    own_share_ = 3 + Below(5);
    for (int ns = 0; ns < namespaces_; ++ns) {
      if (Percent(70)) wanted_own_.insert(ns);
    }
  }

  void PutOwn(int after, int ns) {
    std::map<std::string, int> numbers{{"ns", ns}, {"own", Below(2)}};
    if (Percent(80)) numbers["storage"] = 3 + Below(20);
    if (Percent(50)) numbers["claims"] = 1 + Below(5);
    if (Percent(20)) numbers["secrets"] = 1 + Below(3);
    if (Percent(20)) numbers["gold"] = 1;
    Add(after, "own-quota", std::move(numbers));
  }

  void ChangeOwn() {
    const int ns = Below(namespaces_);
    if (Percent(85)) return PutOwn(Pause(), ns);
    Add("delete-own-quota", {{"ns", ns}, {"own", Below(2)}});
  }

  // In every third seed others write statuses: a recount, a raise, an edit by a person.
  void AddEdits() {
    if (schedule_.seed % 3 != 1) return;
    const int edits = 1 + Below(4);
    for (int i = 0; i < edits; ++i) {
      static constexpr const char* kWhat[] = {"recount", "raise", "edit", "edit", "edit"};
      Action action{kWhat[Below(5)], Below(2'000), {{"quota", Below(quotas_)}}};
      if (schedule_.api == Api::kJoint && Percent(40)) {
        action.numbers = {{"ns", Below(namespaces_)}, {"own", Below(2)}};
      }
      if (action.what == "raise") action.numbers["by"] = 1 + Below(4);
      if (action.what == "edit") action.numbers["what"] = Below(3);
      const std::size_t size = schedule_.actions.size();
      Insert(size / 3 + static_cast<std::size_t>(Below(static_cast<int>(size - size / 3))),
             std::move(action));
    }
  }

  void Next() {
    if (Percent(fault_share_)) return FaultOfAny();
    if (own_share_ > 0 && Percent(own_share_)) return ChangeOwn();
    if (Percent(label_share_)) return ChangeNamespace();
    if (Percent(spec_share_)) return ChangeQuota();
    if (Percent(75)) return Write();
    Add("delete", {{"ns", Below(namespaces_)}, {"name", Below(names_)}, {"secret", Percent(15)}});
  }

  // Moves some faults to the watch of namespaces, or of the ClusterQuotas beside quotas of core.
  void FaultOfAny() {
    Fault();
    std::map<std::string, int>& numbers = schedule_.actions.back().numbers;
    if (numbers.contains("resource") && Percent(30)) numbers["resource"] = 3;
    const bool joint = schedule_.api == Api::kJoint && numbers.contains("resource");
    if (joint && Percent(20)) numbers["resource"] = 4;
  }

  void ChangeNamespace() {
    const int ns = Below(namespaces_);
    if (Percent(75)) return PutNamespace(Pause(), ns);
    if (schedule_.seed % 2 == 0) {
      Add("delete-namespace", {{"ns", ns}});
      if (Percent(70)) PutNamespace(Pause(), ns);
    } else {
      Terminate(ns);
    }
  }

  // Its objects are removed one by one. It may be created again, with other labels.
  void Terminate(int ns) {
    const int pause = Percent(70) ? 1 + Below(100) : 1 + Below(3'000);
    Add("terminate-namespace", {{"ns", ns}, {"ms", pause}});
    if (Percent(30)) PutNamespace(Pause(), ns);
    if (Percent(70)) PutNamespace(12 * pause, ns);
  }

  void ChangeQuota() {
    const int quota = Below(quotas_);
    if (Percent(85)) return PutQuota(Pause(), quota);
    Add("delete-quota", {{"quota", quota}});
    if (Percent(60)) PutQuota(Pause(), quota);
  }

  void PutNamespace(int after, int ns) {
    std::map<std::string, int> numbers{{"ns", ns}};
    if (Percent(90)) numbers["team"] = Below(kTeams);
    if (Percent(50)) numbers["tier"] = Below(kTiers);
    Add(after, "namespace", std::move(numbers));
  }

  // An edit mostly changes only the limits of a quota, and seldom its parent, selector or names.
  void PutQuota(int after, int quota) {
    std::map<std::string, int>& numbers = put_[quota];
    const bool keep = !numbers.empty() && Percent(60);
    if (!keep) numbers = PlaceOf(quota);
    LimitsOf(keep, numbers);
    numbers.erase("mode");
    if (Percent(20)) numbers["mode"] = 1 + Below(2);
    Add(after, "quota", numbers);
  }

  // Sometimes the parent does not exist, or makes a cycle.
  std::map<std::string, int> PlaceOf(int quota) {
    std::map<std::string, int> numbers{{"quota", quota}};
    const int parent = quota > 0 && Percent(90) ? Below(quota) : Below(quotas_ + 1);
    const int share = quota == 0 ? 5 : 75;
    if (Percent(share) && parent != quota && DepthOf(parent) < kMostDeep)
      numbers["parent"] = parent;
    const int dice = Below(100);
    if (dice < 10) numbers["all"] = 1;
    if (dice >= 10 && dice < 75) numbers["team"] = Below(kTeams);
    if (dice >= 65 && dice < 85) numbers["tier"] = Below(kTiers);
    if (Percent(12)) numbers["gold"] = 1;
    return numbers;
  }

  int DepthOf(int quota) {
    int depth = 1;
    for (; depth < kMostDeep && put_[quota].contains("parent"); ++depth) {
      quota = put_[quota]["parent"];
    }
    return depth;
  }

  // A guaranteed name has a limit, and the guarantee is not above it.
  void LimitsOf(bool keep, std::map<std::string, int>& numbers) {
    struct Name {
      const char* name;
      const char* guaranteed;
      int share;
      int least;
      int more;
    };
    static constexpr Name kNames[] = {{"storage", "gstorage", 85, 4, 24},
                                      {"claims", "gclaims", 50, 1, 6},
                                      {"secrets", "gsecrets", 25, 1, 4}};
    const bool gold = numbers.contains("gold");
    for (const Name& name : kNames) {
      const bool limited = keep ? numbers.contains(name.name) : Percent(name.share);
      if (!limited || (gold && name.name == std::string("secrets"))) continue;
      const int limit = name.least + Below(name.more);
      numbers[name.name] = limit;
      numbers.erase(name.guaranteed);
      if (numbers.contains("parent") && Percent(60)) numbers[name.guaranteed] = 1 + Below(limit);
    }
  }

  void Write() {
    const bool secret = Percent(15);
    std::map<std::string, int> numbers = WriteOf();
    if (!secret) numbers["size"] = 1 + Below(8);
    if (!secret && Percent(40)) numbers["gold"] = 1;
    Add(secret ? "secret" : "claim", std::move(numbers));
  }

  // A quota and its parent, so that each object counts in both.
  void AddOwnQuota(int number, int room) override {
    static constexpr int kOwnLabel = 9;
    Add(0, "namespace", {{"ns", kOwnNamespace}, {"team", kOwnLabel}});
    Add(0, "quota", {{"quota", 8}, {"storage", room}});
    Add(0, "quota", {{"quota", 9 + number}, {"storage", room}, {"team", kOwnLabel}, {"parent", 8}});
  }

  // A wide tree, beside the drawn one. A very wide one takes seconds of the processor.
  void AddChildren() {
    const int children = schedule_.seed % 1'000 == 521 ? 1'000 : 40;
    constexpr int kParent = 7;  // other draws do not use it
    std::erase_if(schedule_.actions,
                  [this](const Action& action) { return action.what == "quota" && Percent(70); });
    Insert(0, {"children", 0, {{"quota", kParent}, {"count", children}, {"teams", kTeams}}});
    Insert(0, {"quota", 0, {{"quota", kParent}, {"storage", 60 + Below(100)}}});
  }

  bool contends_ = false;
  int own_share_ = 0;
  std::set<int> wanted_own_;  // namespaces that have core quotas from the beginning
  int quotas_ = 0;
  int label_share_ = 0;
  int spec_share_ = 0;
  std::map<int, std::map<std::string, int>> put_;  // quotas as put last
};

}  // namespace

Schedule DrawCluster(std::uint64_t seed, bool silent) {
  return ClusterDrawer(seed).Draw(Api::kCluster, silent);
}

Schedule DrawJoint(std::uint64_t seed, bool silent) {
  return ClusterDrawer(seed).Draw(Api::kJoint, silent);
}

}  // namespace simulation
