// Schedules of ClusterQuotas in trees, over namespaces that come, go, and get other labels.

#include <algorithm>

#include "tests/simulation/drawer.h"

namespace simulation {
namespace {

class ClusterDrawer final : public Drawer {
 public:
  using Drawer::Drawer;

  Schedule Draw(bool silent) {
    schedule_.api = Api::kCluster;
    DrawReplicas();
    DrawManner();
    namespaces_ += 1 + Below(2);
    label_share_ = Percent(40) ? 0 : 2 + Below(10);
    spec_share_ = Percent(40) ? 1 : 3 + Below(10);
    for (int ns = 0; ns < namespaces_; ++ns) {
      if (Percent(90)) PutNamespace(0, ns);
    }
    quotas_ = 2 + Below(5);
    for (int quota = 0; quota < quotas_; ++quota) PutQuota(0, quota);
    const int calm = Percent(60) ? Below(20) : -1;  // then all that is new has been counted
    const int actions = 20 + Below(60);
    for (int i = 0; i < actions; ++i) {
      const std::size_t next = schedule_.actions.size();
      Next();
      if (i == calm) schedule_.actions[next].after += 24'000;
    }
    MakeCrowded();
    MakeHarsh();
    if (silent) MakeSilent();
    KeepSome();
    return std::move(schedule_);
  }

 private:
  static constexpr int kTeams = 3;
  static constexpr int kTiers = 2;
  static constexpr int kMostDeep = 3;

  void Next() {
    if (Percent(fault_share_)) return FaultOfAny();
    if (Percent(label_share_)) return ChangeNamespace();
    if (Percent(spec_share_)) return ChangeQuota();
    if (Percent(75)) return Write();
    Add("delete", {{"ns", Below(namespaces_)}, {"name", Below(names_)}, {"secret", Percent(15)}});
  }

  // Also of the watch of namespaces.
  void FaultOfAny() {
    Fault();
    std::map<std::string, int>& numbers = schedule_.actions.back().numbers;
    if (numbers.contains("resource") && Percent(30)) numbers["resource"] = 3;
  }

  void ChangeNamespace() {
    const int ns = Below(namespaces_);
    if (Percent(75)) return PutNamespace(Pause(), ns);
    Add("delete-namespace", {{"ns", ns}});
    if (Percent(70)) PutNamespace(Pause(), ns);
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

  // Mostly a quota keeps its place, its namespaces and its names, and has other limits.
  void PutQuota(int after, int quota) {
    std::map<std::string, int>& numbers = put_[quota];
    const bool keep = !numbers.empty() && Percent(60);
    if (!keep) numbers = PlaceOf(quota);
    LimitsOf(keep, numbers);
    numbers.erase("mode");
    if (Percent(20)) numbers["mode"] = 1 + Below(2);
    Add(after, "quota", numbers);
  }

  // Now and then a parent that there is not, or that makes a cycle.
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

  // What is guaranteed is limited, and not above the limit.
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

  // A tree of two: what is used there is used in the quota above, too.
  void AddOwnQuota(int number, int room) override {
    static constexpr int kOwnLabel = 9;
    Add(0, "namespace", {{"ns", kOwnNamespace}, {"team", kOwnLabel}});
    Add(0, "quota", {{"quota", 8}, {"storage", room}});
    Add(0, "quota", {{"quota", 9 + number}, {"storage", room}, {"team", kOwnLabel}, {"parent", 8}});
  }

  int quotas_ = 0;
  int label_share_ = 0;
  int spec_share_ = 0;
  std::map<int, std::map<std::string, int>> put_;  // quotas as put last
};

}  // namespace

Schedule DrawCluster(std::uint64_t seed, bool silent) { return ClusterDrawer(seed).Draw(silent); }

}  // namespace simulation
