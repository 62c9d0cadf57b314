#include <array>

#include "cmd/quickstart/describe.h"
#include "cmd/quickstart/story.h"
#include "pkg/api/object_meta.h"

namespace quickstart {
namespace {

constexpr std::string_view kKarmadaQuota = "business-a";
constexpr std::string_view kRefusal =
    "resourcebindings.work.karmada.io \"batch-deployment\" is forbidden: exceeded quota: "
    "business-a, requested: cpu=40, used: cpu=80, limited: cpu=100";
constexpr std::array<const char*, 2> kFirst{"shop", "search"};
constexpr int kReplicas = 40;
constexpr std::array<std::pair<const char*, int>, 3> kPlacement{
    {{"member1", 14}, {"member2", 13}, {"member3", 13}}};
const api::GroupVersionResource kKarmadaQuotas{"policy.karmada.io", "v1alpha1", "karmadaquotas"};
const api::GroupVersionResource kBindings{"work.karmada.io", "v1alpha2", "resourcebindings"};

json::Value KarmadaQuotaObject() {
  json::Value quota;
  quota.Make({"apiVersion"}) = kKarmadaQuotas.GroupVersion();
  quota.Make({"kind"}) = "KarmadaQuota";
  quota.Make({"metadata", "name"}) = kKarmadaQuota;
  quota.Make({"spec", "hard", "cpu"}) = "100";
  quota.Make({"spec", "hard", "memory"}) = "400Gi";
  return quota;
}

// A binding as Karmada's detector writes it for a Deployment that matches a PropagationPolicy.
json::Value BindingObject(const std::string& deployment) {
  json::Value binding;
  binding.Make({"apiVersion"}) = kBindings.GroupVersion();
  binding.Make({"kind"}) = "ResourceBinding";
  binding.Make({"metadata", "name"}) = deployment + "-deployment";
  binding.Make({"spec", "resource", "apiVersion"}) = "apps/v1";
  binding.Make({"spec", "resource", "kind"}) = "Deployment";
  binding.Make({"spec", "resource", "name"}) = deployment;
  binding.Make({"spec", "replicas"}) = kReplicas;
  binding.Make({"spec", "replicaRequirements", "resourceRequest", "cpu"}) = "1";
  binding.Make({"spec", "replicaRequirements", "resourceRequest", "memory"}) = "2Gi";
  return binding;
}

// The scheduler's patch of a binding.
json::Value Placed() {
  json::Array clusters;
  for (const auto& [name, replicas] : kPlacement) {
    clusters.emplace_back(json::Object{{"name", name}, {"replicas", replicas}});
  }
  json::Value patch;
  patch.Make({"spec", "clusters"}) = std::move(clusters);
  return patch;
}

class KarmadaStory {
 public:
  explicit KarmadaStory(Stage& stage) : stage_(stage) {}

  base::Task<base::Result<void>> Tell() {
    auto made = co_await stage_.MakeNamespace();
    if (!made) co_return made;
    auto read = co_await ReadTotalAndUsed();
    if (!read) co_return read.error();
    auto refused = co_await Refuse();
    if (!refused) co_return refused;
    std::string version(api::ResourceVersion(*read));
    auto fallen = co_await DeleteOne(std::move(version));
    if (!fallen) co_return fallen;
    co_return co_await Pass();
  }

 private:
  // The proposal's first story. Returns the quota as read.
  base::Task<base::Result<json::Value>> ReadTotalAndUsed() {
    const json::Value quota = KarmadaQuotaObject();
    auto made = co_await stage_.Create(kKarmadaQuotas.Path(stage_.ns()), quota);
    if (!made) co_return made.error();
    // A limit is in the status once it is enforced.
    auto enforced = co_await stage_.WaitUsed("cpu", "0");
    if (!enforced) co_return enforced.error();
    stage_.out() << "created KarmadaQuota " << kKarmadaQuota
                 << ": business A has 100 CPU and 400Gi memory in all its clusters" << std::endl;
    const auto began = stage_.scheduler().Now();
    for (const char* deployment : kFirst) {
      auto spread = co_await Spread(deployment);
      if (!spread) co_return spread.error();
    }
    auto counted = co_await stage_.WaitUsed("cpu", "80");
    if (!counted) co_return counted.error();
    stage_.Show("a user reads total and used", began, ListKarmadaQuota(*counted));
    co_return counted;
  }

  base::Task<base::Result<void>> Spread(std::string deployment) {
    const json::Value binding = BindingObject(deployment);
    auto created = co_await stage_.Create(kBindings.Path(stage_.ns()), binding);
    if (!created) co_return created.error();
    const json::Value placed = Placed();
    auto patched =
        co_await stage_.Patch(kBindings.Path(stage_.ns(), deployment + "-deployment"), placed);
    if (!patched) co_return patched.error();
    stage_.out() << "Deployment " << deployment << ": " << kReplicas
                 << " replicas of 1 CPU and 2Gi memory";
    for (const auto& [name, replicas] : kPlacement) {
      stage_.out() << ", " << replicas << " in " << name;
    }
    stage_.out() << std::endl;
    co_return base::Result<void>();
  }

  // The second story: a binding beyond the limit is refused until there is room.
  base::Task<base::Result<void>> Refuse() {
    stage_.out() << "\nDeployment batch, " << kReplicas << " more replicas:\n" << std::endl;
    const json::Value binding = BindingObject("batch");
    auto created = co_await stage_.Create(kBindings.Path(stage_.ns()), binding);
    if (created) co_return NotAsTold("it was not refused: the quota is not enforced");
    const std::string& said = created.error().message;
    const bool as_told = created.error().reason == "QuotaExceeded" && said.ends_with(kRefusal);
    if (!as_told) co_return created.error();
    const auto words = said.find("admission webhook");
    stage_.out() << said.substr(words == std::string::npos ? 0 : words) << std::endl;
    co_return base::Result<void>();
  }

  base::Task<base::Result<void>> DeleteOne(std::string version) {
    auto watch = co_await stage_.OpenWatch(std::move(version));
    if (!watch) co_return watch.error();
    stage_.out() << "\ndeleting Deployment search, and with it its binding ..." << std::endl;
    const auto began = stage_.scheduler().Now();
    auto gone = co_await stage_.Delete(kBindings.Path(stage_.ns(), "search-deployment"));
    if (!gone) co_return gone;
    auto fallen = co_await stage_.NextUsing(**watch, "cpu", "40");
    if (!fallen) co_return fallen.error();
    stage_.Show("usage fell", began, ListKarmadaQuota(*fallen));
    co_return base::Result<void>();
  }

  base::Task<base::Result<void>> Pass() {
    stage_.out() << "\nnow there is room, and batch passes:" << std::endl;
    const auto began = stage_.scheduler().Now();
    auto spread = co_await Spread("batch");
    if (!spread) co_return spread;
    auto counted = co_await stage_.WaitUsed("cpu", "80");
    if (!counted) co_return counted.error();
    stage_.Show("counted", began, ListKarmadaQuota(*counted));
    co_return base::Result<void>();
  }

  Stage& stage_;
};

}  // namespace

base::Task<base::Result<void>> TellKarmadaStory(client::ApiClient& client,
                                                base::Scheduler& scheduler, StoryOptions options,
                                                std::ostream& out) {
  Stage stage(client, scheduler, std::move(options), out, kKarmadaQuotas,
              std::string(kKarmadaQuota));
  KarmadaStory story(stage);
  co_return co_await story.Tell();
}

}  // namespace quickstart
