// Schedules of machines whose classes are created late, changed, deleted, and created again.

#include "tests/simulation/drawer.h"

namespace simulation {
namespace {

class IroncoreDrawer final : public Drawer {
 public:
  using Drawer::Drawer;

  Schedule Draw(bool silent) {
    schedule_.api = Api::kIroncore;
    DrawReplicas();
    DrawManner();
    names_ += 3;
    class_share_ = Percent(50) ? 1 + Below(3) : 4 + Below(12);
    for (int number = 0; number < kClasses; ++number) {
      if (Percent(85)) PutClass(0, number);
    }
    for (int i = 0; i < 1 + Below(3); ++i) PutQuota(0);
    const int actions = 20 + Below(80);
    for (int i = 0; i < actions; ++i) Next();
    MakeCrowded();
    MakeHarsh();
    if (silent) MakeSilent();
    KeepSome();
    AddDuplicates();
    return std::move(schedule_);
  }

 private:
  static constexpr int kClasses = 3;

  void Next() {
    if (Percent(fault_share_)) return Fault();
    if (Percent(class_share_)) return ChangeClass();
    const int dice = Below(100);
    if (dice < 66) return Write();
    if (dice < 81) return Add("delete", {{"ns", Below(namespaces_)}, {"name", Below(names_)}});
    if (dice < 90) return Add("terminate", {{"ns", Below(namespaces_)}, {"name", Below(names_)}});
    if (dice < 97) return PutQuota(Pause());
    Add("delete-quota", {{"ns", Below(namespaces_)}, {"quota", Below(2)}});
  }

  // A deleted class is created again at once, after a while, or never.
  void ChangeClass() {
    const int number = Below(kClasses);
    if (Percent(60)) return PutClass(Pause(), number);
    Add("delete-class", {{"class", number}});
    if (Percent(40)) PutClass(Pause(), number);
  }

  void PutClass(int after, int number) {
    std::map<std::string, int> numbers{{"class", number}};
    if (Percent(95)) numbers["cpu"] = Below(6);
    if (Percent(95)) numbers["memory"] = 1 + Below(8);
    Add(after, "class", std::move(numbers));
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
    if (has("cpu", 80)) numbers["cpu"] = 4 + Below(20);
    if (has("memory", 40)) numbers["memory"] = 6 + Below(25);
    if (has("machines", 40)) numbers["machines"] = 2 + Below(6);
    if (has("gold", 25)) numbers["gold"] = 1;
    quotas_[{ns, quota}] = numbers;
    Add(after, "quota", std::move(numbers));
  }

  void Write() {
    std::map<std::string, int> numbers = WriteOf();
    numbers["class"] = Below(kClasses);
    Add("machine", std::move(numbers));
  }

  std::map<std::pair<int, int>, std::map<std::string, int>> quotas_;  // as put last
  int class_share_ = 0;
};

}  // namespace

Schedule DrawIroncore(std::uint64_t seed, bool silent) { return IroncoreDrawer(seed).Draw(silent); }

}  // namespace simulation
