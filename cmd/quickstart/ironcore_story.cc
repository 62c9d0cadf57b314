#include <array>

#include "cmd/quickstart/describe.h"
#include "cmd/quickstart/story.h"
#include "pkg/api/object_meta.h"

namespace quickstart {
namespace {

constexpr std::string_view kTotal = "team-a-total";
constexpr std::string_view kLarge = "team-a-large-machines";
constexpr std::string_view kTooLarge =
    "machines.compute.ironcore.dev \"db-2\" is forbidden: exceeded quota: team-a-large-machines, "
    "requested: count/machines.compute.ironcore.dev=1, used: "
    "count/machines.compute.ironcore.dev=1, limited: count/machines.compute.ironcore.dev=1";
constexpr std::string_view kTooMuch =
    "machines.compute.ironcore.dev \"web-3\" is forbidden: exceeded quota: team-a-total, "
    "requested: requests.cpu=2, used: requests.cpu=20, limited: requests.cpu=20";
constexpr const char* kCpu = "requests.cpu";
const api::GroupVersionResource kIroncoreQuotas{"core.ironcore.dev", "v1alpha1", "resourcequotas"};
const api::GroupVersionResource kMachines{"compute.ironcore.dev", "v1alpha1", "machines"};
const api::GroupVersionResource kMachineClasses{"compute.ironcore.dev", "v1alpha1",
                                                "machineclasses"};
const api::GroupVersionResource kVolumes{"storage.ironcore.dev", "v1alpha1", "volumes"};

json::Value Object(const api::GroupVersionResource& resource, const char* kind,
                   std::string_view name) {
  json::Value object;
  object.Make({"apiVersion"}) = resource.GroupVersion();
  object.Make({"kind"}) = kind;
  object.Make({"metadata", "name"}) = name;
  return object;
}

// The proposal's first example: total usage is limited.
json::Value TotalQuota() {
  json::Value quota = Object(kIroncoreQuotas, "ResourceQuota", kTotal);
  quota.Make({"spec", "hard", kCpu}) = "20";
  quota.Make({"spec", "hard", "requests.memory"}) = "80Gi";
  quota.Make({"spec", "hard", "requests.storage"}) = "500Gi";
  return quota;
}

// The proposal's second example: the number of machines of one class is limited.
json::Value LargeQuota() {
  json::Value quota = Object(kIroncoreQuotas, "ResourceQuota", kLarge);
  quota.Make({"spec", "hard", "count/machines.compute.ironcore.dev"}) = "1";
  const json::Value expression = json::Object{
      {"scopeName", "MachineClass"}, {"operator", "In"}, {"values", json::Array{"large"}}};
  quota.Make({"spec", "scopeSelector", "matchExpressions"}) = json::Array{expression};
  return quota;
}

json::Value ClassObject(const char* name, const char* cpu, const char* memory) {
  json::Value object = Object(kMachineClasses, "MachineClass", name);
  object.Make({"capabilities", "cpu"}) = cpu;
  object.Make({"capabilities", "memory"}) = memory;
  return object;
}

json::Value MachineObject(const char* name, const char* machine_class) {
  json::Value object = Object(kMachines, "Machine", name);
  object.Make({"spec", "machineClassRef", "name"}) = machine_class;
  object.Make({"spec", "power"}) = "On";
  return object;
}

json::Value VolumeObject() {
  json::Value object = Object(kVolumes, "Volume", "data-1");
  object.Make({"spec", "volumeClassRef", "name"}) = "fast";
  object.Make({"spec", "resources", "storage"}) = "50Gi";
  return object;
}

class IroncoreStory {
 public:
  explicit IroncoreStory(Stage& stage) : stage_(stage) {}

  base::Task<base::Result<void>> Tell() {
    auto limited = co_await Limit();
    if (!limited) co_return limited;
    auto version = co_await Use();
    if (!version) co_return version.error();
    auto freed = co_await Terminate(std::move(*version));
    if (!freed) co_return freed;
    co_return co_await ChangeClass();
  }

 private:
  base::Task<base::Result<void>> Limit() {
    auto made = co_await stage_.MakeNamespace();
    if (!made) co_return made;
    for (const auto& [name, cpu, memory] :
         {std::array{"small", "2", "4Gi"}, std::array{"large", "16", "64Gi"}}) {
      const json::Value object = ClassObject(name, cpu, memory);
      auto created = co_await stage_.Create(kMachineClasses.Path(), object);
      if (!created) co_return created.error();
      stage_.out() << "MachineClass " << name << ": " << cpu << " CPU, " << memory << " memory"
                   << std::endl;
    }
    for (const json::Value& quota : {LargeQuota(), TotalQuota()}) {
      auto created = co_await stage_.Create(kIroncoreQuotas.Path(stage_.ns()), quota);
      if (!created) co_return created.error();
    }
    // A limit is in the status once it is enforced.
    auto enforced = co_await stage_.WaitUsed(kCpu, "0");
    if (!enforced) co_return enforced.error();
    stage_.out() << "created ResourceQuota " << kTotal
                 << ": 20 CPU, 80Gi memory and 500Gi storage together\n"
                 << "created ResourceQuota " << kLarge << ": one machine of class large"
                 << std::endl;
    co_return base::Result<void>();
  }

  // Uses the quota up to its limits, and shows refusals. Returns the quota's version at that time.
  base::Task<base::Result<std::string>> Use() {
    const auto began = stage_.scheduler().Now();
    for (const auto& [name, of_class] : {std::pair{"web-1", "small"}, std::pair{"db-1", "large"}}) {
      auto made = co_await MakeMachine(name, of_class);
      if (!made) co_return made.error();
    }
    const json::Value volume = VolumeObject();
    auto stored = co_await stage_.Create(kVolumes.Path(stage_.ns()), volume);
    if (!stored) co_return stored.error();
    stage_.out() << "Volume data-1: 50Gi" << std::endl;
    auto counted = co_await stage_.WaitUsed("requests.storage", "50Gi");
    if (!counted) co_return counted.error();
    stage_.Show("counted", began, ListIroncoreQuota(*counted));
    auto large = co_await Refuse("db-2", "large", kTooLarge);
    if (!large) co_return large.error();
    stage_.out() << std::endl;
    auto last = co_await MakeMachine("web-2", "small");
    if (!last) co_return last.error();
    auto small = co_await Refuse("web-3", "small", kTooMuch);
    if (!small) co_return small.error();
    auto full = co_await stage_.WaitUsed(kCpu, "20");
    if (!full) co_return full.error();
    co_return std::string(api::ResourceVersion(*full));
  }

  base::Task<base::Result<void>> MakeMachine(const char* name, const char* of_class) {
    const json::Value machine = MachineObject(name, of_class);
    auto created = co_await stage_.Create(kMachines.Path(stage_.ns()), machine);
    if (!created) co_return created.error();
    stage_.out() << "Machine " << name << " of class " << of_class << std::endl;
    co_return base::Result<void>();
  }

  base::Task<base::Result<void>> Refuse(const char* name, const char* of_class,
                                        std::string_view words) {
    stage_.out() << "\nMachine " << name << " of class " << of_class << ":\n" << std::endl;
    const json::Value machine = MachineObject(name, of_class);
    auto created = co_await stage_.Create(kMachines.Path(stage_.ns()), machine);
    if (created) co_return NotAsTold("it was not refused: the quota is not enforced");
    const std::string& said = created.error().message;
    if (created.error().http_status != 403 || !said.ends_with(words)) co_return created.error();
    const auto at = said.find("admission webhook");
    stage_.out() << said.substr(at == std::string::npos ? 0 : at) << std::endl;
    co_return base::Result<void>();
  }

  // Reports the state as a poollet does: the object stays, but its resources are free.
  base::Task<base::Result<void>> Terminate(std::string version) {
    auto watch = co_await stage_.OpenWatch(std::move(version));
    if (!watch) co_return watch.error();
    stage_.out() << "\nmachine web-1 terminates; its object stays ..." << std::endl;
    const auto began = stage_.scheduler().Now();
    json::Value state;
    state.Make({"status", "state"}) = "Terminated";
    auto patched = co_await stage_.Patch(kMachines.Path(stage_.ns(), "web-1") + "/status", state);
    if (!patched) co_return patched.error();
    auto fallen = co_await stage_.NextUsing(**watch, kCpu, "18");
    if (!fallen) co_return fallen.error();
    stage_.Show("its CPU is free", began, ListIroncoreQuota(*fallen));
    stage_.out() << "\nnow there is room, and web-3 passes:" << std::endl;
    auto passed = co_await MakeMachine("web-3", "small");
    if (!passed) co_return passed;
    auto full = co_await stage_.WaitUsed(kCpu, "20");
    if (!full) co_return full.error();
    co_return base::Result<void>();
  }

  // A class's capabilities are immutable, so the class is deleted and created again.
  base::Task<base::Result<void>> ChangeClass() {
    stage_.out() << "\nclass small is deleted, and made again with 1 CPU and 1Gi memory ..."
                 << std::endl;
    auto gone = co_await stage_.Delete(kMachineClasses.Path("", "small"));
    if (!gone) co_return gone;
    const auto began = stage_.scheduler().Now();
    const json::Value object = ClassObject("small", "1", "1Gi");
    auto created = co_await stage_.Create(kMachineClasses.Path(), object);
    if (!created) co_return created.error();
    auto moved = co_await stage_.WaitUsed(kCpu, "18");
    if (!moved) co_return moved.error();
    stage_.Show("its two machines that live count anew", began, ListIroncoreQuota(*moved));
    co_return base::Result<void>();
  }

  Stage& stage_;
};

}  // namespace

base::Task<base::Result<void>> TellIroncoreStory(client::ApiClient& client,
                                                 base::Scheduler& scheduler, StoryOptions options,
                                                 std::ostream& out) {
  Stage stage(client, scheduler, std::move(options), out, kIroncoreQuotas, std::string(kTotal));
  IroncoreStory story(stage);
  co_return co_await story.Tell();
}

}  // namespace quickstart
