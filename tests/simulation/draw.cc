// Random schedules of claims and secrets. Some are calm with crowds of writes, others are full of
// faults, so that each fault occurs both alone and together with others.

#include "tests/simulation/drawer.h"

namespace simulation {
namespace {

class CoreDrawer final : public Drawer {
 public:
  using Drawer::Drawer;

  Schedule Draw(bool silent) {
    DrawReplicas();
    DrawManner();
    for (int i = 0; i < 1 + Below(3); ++i) PutQuota(0);
    const int actions = 20 + Below(60);
    for (int i = 0; i < actions; ++i) Next();
    MakeCrowded();
    MakeHarsh();
    if (silent) MakeSilent();
    KeepSome();
    AskOld();
    AddDuplicates();
    return std::move(schedule_);
  }

 private:
  // In every sixth seed a replica of an older version answers some calls, and a person edits the
  // reservations.
  void AskOld() {
    if (schedule_.seed % 6 != 1) return;
    for (Action& action : schedule_.actions) {
      if (action.numbers.contains("store") && Percent(20)) action.numbers["old"] = 1;
    }
    const int edits = Below(3);
    for (int i = 0; i < edits; ++i) {
      const int at = Below(static_cast<int>(schedule_.actions.size()));
      Insert(static_cast<std::size_t>(at),
             {"edit",
              Below(2'000),
              {{"ns", Below(namespaces_)}, {"quota", Below(2)}, {"what", Below(2)}}});
    }
  }

  void Next() {
    if (Percent(fault_share_)) return Fault();
    const int dice = Below(100);
    if (dice < 60) return Write();
    if (dice < 80) return Delete();
    if (dice < 90) return PutQuota(Pause());
    if (dice < 93) return Add("delete-quota", {{"ns", Below(namespaces_)}, {"quota", Below(2)}});
    ExternalWrites();
  }

  // An edit mostly changes only the limits of a quota, and seldom its names or scope.
  void PutQuota(int after) {
    const int ns = Below(namespaces_);
    const int quota = Below(2);
    std::map<std::string, int> numbers{{"ns", ns}, {"quota", quota}};
    const auto last = quotas_.find({ns, quota});
    const bool keep = last != quotas_.end() && Percent(70);
    const auto has = [&](const char* name, int share) {
      return keep ? last->second.contains(name) : Percent(share);
    };
    if (has("storage", 80)) numbers["storage"] = 3 + Below(20);
    if (has("claims", 50)) numbers["claims"] = 1 + Below(5);
    if (has("secrets", 30)) numbers["secrets"] = 1 + Below(3);
    if (has("gold", 25)) numbers["gold"] = 1;
    quotas_[{ns, quota}] = numbers;
    Add(after, "quota", std::move(numbers));
  }

  void Write() {
    const bool secret = Percent(15);
    std::map<std::string, int> numbers = WriteOf();
    if (!secret) numbers["size"] = 1 + Below(8);
    if (!secret && Percent(40)) numbers["gold"] = 1;
    Add(secret ? "secret" : "claim", std::move(numbers));
  }

  void Delete() {
    Add("delete", {{"ns", Below(namespaces_)}, {"name", Below(names_)}, {"secret", Percent(15)}});
  }

  void ExternalWrites() {
    const int ns = Below(namespaces_);
    if (Percent(50)) return Add("recount", {{"ns", ns}, {"quota", Below(2)}});
    Add("raise", {{"ns", ns}, {"quota", Below(2)}, {"by", 1 + Below(4)}});
  }

  std::map<std::pair<int, int>, std::map<std::string, int>> quotas_;  // as put last
};

}  // namespace

Schedule Draw(std::uint64_t seed, bool silent) { return CoreDrawer(seed).Draw(silent); }

Schedule DrawOf(Api api, std::uint64_t seed, bool silent) {
  if (api == Api::kIroncore) return DrawIroncore(seed, silent);
  if (api == Api::kJoint) return DrawJoint(seed, silent);
  return api == Api::kCluster ? DrawCluster(seed, silent) : Draw(seed, silent);
}

}  // namespace simulation
