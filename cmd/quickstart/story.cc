#include "cmd/quickstart/story.h"

#include <cstdio>

#include "cmd/quickstart/describe.h"
#include "pkg/api/resource.h"
#include "pkg/json/value.h"

namespace quickstart {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kQuota = "compute";
constexpr int kPods = 3;
constexpr base::Duration kRetryPause = milliseconds(200);
const api::GroupVersionResource kNamespaces{"", "v1", "namespaces"};
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

base::Task<base::Result<void>> Delete(client::ApiClient& client, std::string path) {
  client::ApiRequest request;
  request.verb = "DELETE";
  request.path = std::move(path);
  request.query.emplace_back("gracePeriodSeconds", "0");
  auto answer = co_await client.Do(std::move(request));
  if (!answer) co_return answer.error();
  co_return base::Result<void>();
}

class Story {
 public:
  Story(client::ApiClient& client, base::Scheduler& scheduler, StoryOptions options,
        std::ostream& out)
      : client_(client), scheduler_(scheduler), options_(std::move(options)), out_(out) {}

  base::Task<base::Result<void>> Tell() {
    auto made = co_await MakeNamespace();
    if (!made) co_return made;
    co_return co_await Chapters();
  }

 private:
  base::Task<base::Result<void>> MakeNamespace() {
    json::Value object;
    object.Make({"apiVersion"}) = "v1";
    object.Make({"kind"}) = "Namespace";
    object.Make({"metadata", "name"}) = options_.ns;
    auto created = co_await Create(kNamespaces.Path(), object);
    if (!created) co_return created.error();
    out_ << "created namespace " << options_.ns << std::endl;
    co_return base::Result<void>();
  }

  base::Task<base::Result<void>> Chapters() {
    const json::Value quota = QuotaObject();
    auto made = co_await Create(kQuotas.Path(options_.ns), quota);
    if (!made) co_return made.error();
    out_ << "created quota " << kQuota << ": at most 10 pods, 2 CPU, 4Gi memory" << std::endl;
    for (int number = 1; number <= kPods; ++number) {
      auto pod = co_await CreatePod(number);
      if (!pod) co_return pod;
    }
    out_ << "created " << kPods << " pods of 200m CPU and 512Mi memory each" << std::endl;
    const auto created = scheduler_.Now();
    auto counted = co_await WaitForPods(kPods);
    if (!counted) co_return counted.error();
    Show(*counted, "counted", created);
    std::string version(counted->StringAt({"metadata", "resourceVersion"}));
    co_return co_await DeleteOne(std::move(version));
  }

  base::Task<base::Result<void>> DeleteOne(std::string version) {
    // The watch is open before the pod goes, so that the time is the status', not ours.
    auto watch = co_await OpenWatch(std::move(version));
    if (!watch) co_return watch.error();
    out_ << "\ndeleting pod web-1 ..." << std::endl;
    const auto began = scheduler_.Now();
    auto gone = co_await Delete(client_, kPodsResource.Path(options_.ns, "web-1"));
    if (!gone) co_return gone;
    auto fallen = co_await NextWithPods(**watch, kPods - 1);
    if (!fallen) co_return fallen.error();
    Show(*fallen, "usage fell", began);
    co_return base::Result<void>();
  }

  void Show(const json::Value& quota, std::string_view what, base::TimePoint since) {
    const auto took = std::chrono::duration<double, std::milli>(scheduler_.Now() - since).count();
    char text[32];
    std::snprintf(text, sizeof text, "%.1f", took);
    out_ << "\n" << what << " after " << text << " ms:\n\n" << DescribeQuota(quota) << std::flush;
  }

  // In a cluster with a controller manager a fresh namespace takes a moment to get the service
  // account that pods need; until then pods are forbidden.
  base::Task<base::Result<void>> CreatePod(int number) {
    const json::Value pod = PodObject(number);
    const auto deadline = scheduler_.Now() + std::chrono::seconds(20);
    while (true) {
      auto created = co_await Create(kPodsResource.Path(options_.ns), pod);
      if (created) co_return base::Result<void>();
      const bool too_early = created.error().message.find("serviceaccount") != std::string::npos;
      if (!too_early || scheduler_.Now() > deadline) co_return created.error();
      co_await scheduler_.Sleep(kRetryPause);
    }
  }

  base::Task<base::Result<json::Value>> WaitForPods(int pods) {
    auto watch = co_await OpenWatch("");
    if (!watch) co_return watch.error();
    co_return co_await NextWithPods(**watch, pods);
  }

  // The quota's versions from `version` on; with "", the present one first.
  base::Task<base::Result<std::unique_ptr<http::BodyStream>>> OpenWatch(std::string version) {
    client::ApiRequest request;
    request.path = kQuotas.Path(options_.ns);
    request.query.emplace_back("watch", "1");
    request.query.emplace_back("fieldSelector", "metadata.name=" + std::string(kQuota));
    if (!version.empty()) request.query.emplace_back("resourceVersion", std::move(version));
    co_return co_await client_.Stream(std::move(request));
  }

  // The first version whose status counts so many pods. The stream outlives the task.
  base::Task<base::Result<json::Value>> NextWithPods(http::BodyStream& watch, int pods) {
    const auto deadline = scheduler_.Now() + options_.patience;
    const std::string wanted = std::to_string(pods);
    std::string lines;
    std::string last = "nothing";
    while (scheduler_.Now() < deadline) {
      const auto left = std::chrono::ceil<milliseconds>(deadline - scheduler_.Now());
      auto bytes = co_await watch.Read(left);
      if (!bytes && bytes.error().Is(base::ErrorCode::kCancelled)) co_return bytes.error();
      if (!bytes || !bytes->has_value()) break;
      lines += **bytes;
      for (auto end = lines.find('\n'); end != std::string::npos; end = lines.find('\n')) {
        const auto event = json::Parse(std::string_view(lines).substr(0, end));
        lines.erase(0, end + 1);
        const json::Value* quota = event ? event->At({"object"}) : nullptr;
        if (quota == nullptr) continue;
        last = quota->StringAt({"status", "used", "pods"});
        if (last == wanted) co_return *quota;
      }
    }
    co_return base::Error{.code = base::ErrorCode::kTimeout,
                          .message = "quota " + std::string(kQuota) + " never counted " + wanted +
                                     " pods (last: " + (last.empty() ? "nothing" : last) +
                                     "); is the daemon running?"};
  }

  base::Task<base::Result<json::Value>> Create(std::string path, json::Value object) {
    client::ApiRequest request;
    request.verb = "POST";
    request.path = std::move(path);
    request.content_type = client::kJson;
    request.body = json::Write(object);
    co_return co_await client::DoJson(client_, std::move(request));
  }

  client::ApiClient& client_;
  base::Scheduler& scheduler_;
  StoryOptions options_;
  std::ostream& out_;
};

}  // namespace

base::Task<base::Result<void>> TellStory(client::ApiClient& client, base::Scheduler& scheduler,
                                         StoryOptions options, std::ostream& out) {
  Story story(client, scheduler, std::move(options), out);
  co_return co_await story.Tell();
}

base::Task<base::Result<void>> CleanUp(client::ApiClient& client, std::string ns) {
  auto deleted = co_await Delete(client, kNamespaces.Path("", ns));
  if (!deleted && !deleted.error().Is(base::ErrorCode::kNotFound)) co_return deleted.error();
  co_return base::Result<void>();
}

}  // namespace quickstart
