#include <array>

#include "cmd/quickstart/describe.h"
#include "cmd/quickstart/story.h"
#include "pkg/api/object_meta.h"

namespace quickstart {
namespace {

constexpr const char* kCompany = "company";
constexpr int kTaken = 6;    // by team A: 3 that it is guaranteed, and 3 that it borrows
constexpr int kOfTeamB = 4;  // to team B
constexpr std::string_view kBorrowRefused =
    "exceeded cluster quota: company (above team-a), requested: pods=1, used: pods=6, limited: "
    "pods=10, guaranteed to others: pods=4";
constexpr std::string_view kTrialWarns =
    "exceeded cluster quota: trial, requested: pods=1, used: pods=9, limited: pods=5";
const api::GroupVersionResource kClusterQuotas{"quota-controller-manager.io", "v1alpha1",
                                               "clusterquotas"};
const api::GroupVersionResource kAppliedQuotas{"quota-controller-manager.io", "v1alpha1",
                                               "appliedclusterquotas"};
constexpr std::chrono::milliseconds kLookForApplied{50};
const api::GroupVersionResource kTeamSpaces{"", "v1", "namespaces"};
const api::GroupVersionResource kTeamPods{"", "v1", "pods"};

json::Value LimitObject(const std::string& name, const std::string& pods) {
  json::Value quota;
  quota.Make({"apiVersion"}) = kClusterQuotas.GroupVersion();
  quota.Make({"kind"}) = "ClusterQuota";
  quota.Make({"metadata", "name"}) = name;
  quota.Make({"spec", "hard", "pods"}) = pods;
  return quota;
}

// Selects the namespaces with the team's label.
json::Value TeamObject(const std::string& team, const std::string& guaranteed) {
  json::Value quota = LimitObject("team-" + team, "8");
  quota.Make({"spec", "namespaceSelector", "matchLabels", "team"}) = team;
  quota.Make({"spec", "parent"}) = kCompany;
  quota.Make({"spec", "guaranteed", "pods"}) = guaranteed;
  return quota;
}

json::Value NamespaceObject(const std::string& name, const std::string& team) {
  json::Value space;
  space.Make({"apiVersion"}) = "v1";
  space.Make({"kind"}) = "Namespace";
  space.Make({"metadata", "name"}) = name;
  space.Make({"metadata", "labels", "team"}) = team;
  return space;
}

json::Value TeamPodObject(const std::string& name) {
  json::Value container;
  container.Make({"name"}) = "pause";
  container.Make({"image"}) = "registry.k8s.io/pause:3.10";
  json::Value pod;
  pod.Make({"apiVersion"}) = "v1";
  pod.Make({"kind"}) = "Pod";
  pod.Make({"metadata", "name"}) = name;
  pod.Make({"spec", "containers"}) = json::Array{container};
  return pod;
}

class ClusterStory {
 public:
  explicit ClusterStory(Stage& stage) : stage_(stage) {}

  base::Task<base::Result<void>> Tell() {
    auto made = co_await MakeTeams();
    if (!made) co_return made;
    auto borrowed = co_await Borrow();
    if (!borrowed) co_return borrowed;
    auto kept = co_await KeepGuarantee();
    if (!kept) co_return kept;
    auto fallen = co_await DeleteOne();
    if (!fallen) co_return fallen;
    co_return co_await Try();
  }

 private:
  base::Task<base::Result<void>> MakeTeams() {
    for (const char* team : {"a", "b"}) {
      const json::Value space = NamespaceObject(In(team), team);
      auto made = co_await stage_.Create(kTeamSpaces.Path(), space);
      if (!made) co_return made.error();
    }
    const std::array<json::Value, 3> quotas{LimitObject(kCompany, "10"), TeamObject("a", "3"),
                                            TeamObject("b", std::to_string(kOfTeamB))};
    for (const json::Value& quota : quotas) {
      auto made = co_await stage_.Create(kClusterQuotas.Path(), quota);
      if (!made) co_return made.error();
    }
    // status.hard shows that the limit is enforced.
    for (const char* name : {"team-a", "team-b", kCompany}) {
      auto enforced = co_await stage_.WaitUsed("pods", "0", name);
      if (!enforced) co_return enforced.error();
    }
    stage_.out() << "a company may have 10 pods; in it team-a is guaranteed 3, and team-b "
                 << kOfTeamB << "\n";
    co_return co_await ShowApplied();
  }

  // Shows the view of users who may read only a namespace of team A.
  base::Task<base::Result<void>> ShowApplied() {
    const auto deadline = stage_.scheduler().Now() + stage_.patience();
    while (true) {
      auto list = co_await stage_.Get(kAppliedQuotas.Path(In("a")));
      if (!list) co_return list.error();
      const json::Array& shown = list->ArrayAt({"items"});
      if (shown.size() == 2) {
        stage_.out() << "in its namespace team-a sees (kubectl get appliedclusterquotas):";
        for (const json::Value& quota : shown) {
          stage_.out() << " " << api::Name(quota) << " " << quota.StringAt({"status", "summary"})
                       << (&quota == &shown.back() ? "\n" : ";");
        }
        co_return base::Result<void>();
      }
      if (stage_.scheduler().Now() >= deadline) {
        co_return NotAsTold("there are no AppliedClusterQuotas in the namespace of team-a");
      }
      co_await stage_.scheduler().Sleep(kLookForApplied);
    }
  }

  base::Task<base::Result<void>> Borrow() {
    const auto began = stage_.scheduler().Now();
    auto created = co_await CreatePods("a", kTaken);
    if (!created) co_return created;
    auto counted = co_await stage_.WaitUsed("pods", std::to_string(kTaken), kCompany);
    if (!counted) co_return counted.error();
    stage_.out() << "team-a creates " << kTaken << " pods: its 3, and 3 that it borrows\n";
    co_return co_await ShowAll("counted", began);
  }

  base::Task<base::Result<void>> KeepGuarantee() {
    stage_.out() << "\nteam-a wants one more, but the rest is guaranteed to team-b:\n" << std::endl;
    const json::Value pod = TeamPodObject("one-more");
    auto refused = co_await stage_.Create(kTeamPods.Path(In("a")), pod);
    if (refused) co_return NotAsTold("it was not refused: the quota is not enforced");
    const std::string& said = refused.error().message;
    if (!said.ends_with(kBorrowRefused)) co_return refused.error();
    const auto words = said.find("admission webhook");
    stage_.out() << said.substr(words == std::string::npos ? 0 : words) << std::endl;
    const auto began = stage_.scheduler().Now();
    auto created = co_await CreatePods("b", kOfTeamB);
    if (!created) co_return created;
    auto counted = co_await stage_.WaitUsed("pods", "10", kCompany);
    if (!counted) co_return counted.error();
    stage_.out() << "\nteam-b creates " << kOfTeamB << " pods at once\n";
    co_return co_await ShowAll("counted", began);
  }

  base::Task<base::Result<void>> DeleteOne() {
    auto watch = co_await stage_.OpenWatch("", kCompany);
    if (!watch) co_return watch.error();
    stage_.out() << "\ndeleting a pod of team-a ..." << std::endl;
    const auto began = stage_.scheduler().Now();
    auto gone = co_await stage_.Delete(kTeamPods.Path(In("a"), "web-1"));
    if (!gone) co_return gone;
    auto fallen = co_await stage_.NextUsing(**watch, "pods", "9");
    if (!fallen) co_return fallen.error();
    co_return co_await ShowAll("usage fell", began);
  }

  // Shows a limit in mode Warn, before it is enforced.
  base::Task<base::Result<void>> Try() {
    stage_.out() << "\na new limit of 5 pods over all namespaces only warns (enforcement: Warn):\n"
                 << std::endl;
    json::Value trial = LimitObject("trial", "5");
    trial.Make({"spec", "namespaceSelector"}) = json::Object();
    trial.Make({"spec", "enforcement"}) = "Warn";
    auto made = co_await stage_.Create(kClusterQuotas.Path(), trial);
    if (!made) co_return made.error();
    auto counted = co_await stage_.WaitUsed("pods", "9", "trial");
    if (!counted) co_return counted.error();
    const json::Value pod = TeamPodObject("one-more");
    auto warnings = co_await stage_.CreateWarned(kTeamPods.Path(In("a")), pod);
    if (!warnings) co_return warnings.error();
    bool told = false;
    for (const std::string& warning : *warnings) {
      stage_.out() << "Warning: " << warning << "\n";
      told = told || warning.find(kTrialWarns) != std::string::npos;
    }
    if (!told) co_return NotAsTold("a quota with enforcement Warn did not warn");
    stage_.out() << "pod/one-more created\n" << std::flush;
    co_return base::Result<void>();
  }

  base::Task<base::Result<void>> CreatePods(std::string team, int pods) {
    for (int number = 1; number <= pods; ++number) {
      const json::Value pod = TeamPodObject("web-" + std::to_string(number));
      auto created = co_await stage_.Create(kTeamPods.Path(In(team)), pod);
      if (!created) co_return created.error();
    }
    co_return base::Result<void>();
  }

  base::Task<base::Result<void>> ShowAll(std::string what, base::TimePoint since) {
    std::vector<json::Value> quotas;
    for (const char* name : {kCompany, "team-a", "team-b"}) {
      auto quota = co_await stage_.Get(kClusterQuotas.Path("", name));
      if (!quota) co_return quota.error();
      quotas.push_back(std::move(*quota));
    }
    stage_.Show(what, since, ListClusterQuotas(quotas));
    co_return base::Result<void>();
  }

  // The team's namespace.
  [[nodiscard]] std::string In(const std::string& team) const {
    return stage_.ns() + "-team-" + team;
  }

  Stage& stage_;
};

}  // namespace

base::Task<base::Result<void>> TellClusterStory(client::ApiClient& client,
                                                base::Scheduler& scheduler, StoryOptions options,
                                                std::ostream& out) {
  Stage stage(client, scheduler, std::move(options), out, kClusterQuotas, kCompany,
              Stage::Scope::kCluster);
  ClusterStory story(stage);
  co_return co_await story.Tell();
}

}  // namespace quickstart
