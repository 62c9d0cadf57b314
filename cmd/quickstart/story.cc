#include "cmd/quickstart/story.h"

#include "cmd/quickstart/describe.h"
#include "pkg/api/object_meta.h"
#include "pkg/api/resource.h"
#include "pkg/json/value.h"

namespace quickstart {
namespace {

constexpr std::string_view kQuota = "compute";
constexpr int kPods = 3;
constexpr base::Duration kRetryPause = std::chrono::milliseconds(200);
const api::GroupVersionResource kQuotas{"", "v1", "resourcequotas"};
const api::GroupVersionResource kPodsResource{"", "v1", "pods"};

json::Value QuotaObject() {
  json::Value quota;
  quota.Make({"apiVersion"}) = "v1";
  quota.Make({"kind"}) = "ResourceQuota";
  quota.Make({"metadata", "name"}) = kQuota;
  quota.Make({"spec", "hard", "pods"}) = "10";
  quota.Make({"spec", "hard", "requests.cpu"}) = "2";
  quota.Make({"spec", "hard", "requests.memory"}) = "4Gi";
  return quota;
}

json::Value PodObject(int number) {
  json::Value container;
  container.Make({"name"}) = "pause";
  container.Make({"image"}) = "registry.k8s.io/pause:3.10";
  container.Make({"resources", "requests", "cpu"}) = "200m";
  container.Make({"resources", "requests", "memory"}) = "512Mi";
  json::Value pod;
  pod.Make({"apiVersion"}) = "v1";
  pod.Make({"kind"}) = "Pod";
  pod.Make({"metadata", "name"}) = "web-" + std::to_string(number);
  pod.Make({"spec", "containers"}) = json::Array{container};
  pod.Make({"spec", "automountServiceAccountToken"}) = false;
  return pod;
}

class Story {
 public:
  explicit Story(Stage& stage) : stage_(stage) {}

  base::Task<base::Result<void>> Tell() {
    auto made = co_await stage_.MakeNamespace();
    if (!made) co_return made;
    co_return co_await Chapters();
  }

 private:
  base::Task<base::Result<void>> Chapters() {
    const json::Value quota = QuotaObject();
    auto made = co_await stage_.Create(kQuotas.Path(stage_.ns()), quota);
    if (!made) co_return made.error();
    stage_.out() << "created quota " << kQuota << ": at most 10 pods, 2 CPU, 4Gi memory"
                 << std::endl;
    for (int number = 1; number <= kPods; ++number) {
      auto pod = co_await CreatePod(number);
      if (!pod) co_return pod;
    }
    stage_.out() << "created " << kPods << " pods of 200m CPU and 512Mi memory each" << std::endl;
    const auto created = stage_.scheduler().Now();
    auto counted = co_await stage_.WaitUsed("pods", std::to_string(kPods));
    if (!counted) co_return counted.error();
    stage_.Show("counted", created, DescribeQuota(*counted));
    std::string version(api::ResourceVersion(*counted));
    co_return co_await DeleteOne(std::move(version));
  }

  base::Task<base::Result<void>> DeleteOne(std::string version) {
    // The watch is opened before the pod is deleted, so that the shown time is when the status
    // changed.
    auto watch = co_await stage_.OpenWatch(std::move(version));
    if (!watch) co_return watch.error();
    stage_.out() << "\ndeleting pod web-1 ..." << std::endl;
    const auto began = stage_.scheduler().Now();
    auto gone = co_await stage_.Delete(kPodsResource.Path(stage_.ns(), "web-1"));
    if (!gone) co_return gone;
    auto fallen = co_await stage_.NextUsing(**watch, "pods", std::to_string(kPods - 1));
    if (!fallen) co_return fallen.error();
    stage_.Show("usage fell", began, DescribeQuota(*fallen));
    co_return base::Result<void>();
  }

  // In a cluster with a controller manager, a new namespace gets its service account after a
  // moment; until then pods are forbidden.
  base::Task<base::Result<void>> CreatePod(int number) {
    const json::Value pod = PodObject(number);
    const auto deadline = stage_.scheduler().Now() + std::chrono::seconds(20);
    while (true) {
      auto created = co_await stage_.Create(kPodsResource.Path(stage_.ns()), pod);
      if (created) co_return base::Result<void>();
      const bool too_early = created.error().message.find("serviceaccount") != std::string::npos;
      if (!too_early || stage_.scheduler().Now() > deadline) co_return created.error();
      co_await stage_.scheduler().Sleep(kRetryPause);
    }
  }

  Stage& stage_;
};

}  // namespace

base::Task<base::Result<void>> TellStory(client::ApiClient& client, base::Scheduler& scheduler,
                                         StoryOptions options, std::ostream& out) {
  Stage stage(client, scheduler, std::move(options), out, kQuotas, std::string(kQuota));
  Story story(stage);
  co_return co_await story.Tell();
}

}  // namespace quickstart
