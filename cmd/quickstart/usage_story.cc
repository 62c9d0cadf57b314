#include <array>

#include "cmd/quickstart/describe.h"
#include "cmd/quickstart/story.h"
#include "pkg/api/object_meta.h"
#include "pkg/config/yaml.h"

namespace quickstart {
namespace {

constexpr const char* kBytes = "example.com/bucket-bytes";
constexpr const char* kTeamQuota = "team-a";
constexpr const char* kDefinitionName = "buckets.storage.example.com";
// Printed and created as they are.
constexpr std::string_view kDefinition = R"(apiVersion: quota-controller-manager.io/v1alpha1
kind: UsageDefinition
metadata: {name: buckets.storage.example.com}
spec:
  resource: {group: storage.example.com, resource: buckets}
  usage:
  - {name: example.com/bucket-bytes, path: .spec.size}
)";
constexpr std::string_view kLimit = R"(apiVersion: quota-controller-manager.io/v1alpha1
kind: ClusterQuota
metadata: {name: team-a}
spec:
  namespaceSelector: {matchLabels: {team: a}}
  hard: {example.com/bucket-bytes: 100Gi}
)";
constexpr std::string_view kFirstBucket = R"(apiVersion: storage.example.com/v1
kind: Bucket
metadata: {name: images}
spec: {size: 60Gi, tier: fast}
)";
constexpr std::string_view kTooManyBytes =
    "buckets.storage.example.com \"backup\" is forbidden: exceeded cluster quota: team-a, "
    "requested: example.com/bucket-bytes=20Gi, used: example.com/bucket-bytes=90Gi, limited: "
    "example.com/bucket-bytes=100Gi";
constexpr std::string_view kGrowsTooLarge =
    "buckets.storage.example.com \"logs\" is forbidden: exceeded cluster quota: team-a, "
    "requested: example.com/bucket-bytes=15Gi, used: example.com/bucket-bytes=90Gi, limited: "
    "example.com/bucket-bytes=100Gi";
constexpr std::chrono::milliseconds kLookForReady{50};
const api::GroupVersionResource kBuckets{"storage.example.com", "v1", "buckets"};
const api::GroupVersionResource kUsageDefinitions{"quota-controller-manager.io", "v1alpha1",
                                                  "usagedefinitions"};
const api::GroupVersionResource kUsageQuotas{"quota-controller-manager.io", "v1alpha1",
                                             "clusterquotas"};
const api::GroupVersionResource kSpaces{"", "v1", "namespaces"};

json::Value SpaceObject(const std::string& name) {
  json::Value space;
  space.Make({"apiVersion"}) = "v1";
  space.Make({"kind"}) = "Namespace";
  space.Make({"metadata", "name"}) = name;
  space.Make({"metadata", "labels", "team"}) = "a";
  return space;
}

json::Value BucketObject(const std::string& name, const std::string& size) {
  json::Value bucket;
  bucket.Make({"apiVersion"}) = kBuckets.GroupVersion();
  bucket.Make({"kind"}) = "Bucket";
  bucket.Make({"metadata", "name"}) = name;
  bucket.Make({"spec", "size"}) = size;
  bucket.Make({"spec", "tier"}) = "slow";
  return bucket;
}

bool IsReady(const json::Value& object) {
  for (const json::Value& condition : object.ArrayAt({"status", "conditions"})) {
    if (condition.StringAt({"type"}) == "Ready") return condition.StringAt({"status"}) == "True";
  }
  return false;
}

class UsageStory {
 public:
  explicit UsageStory(Stage& stage) : stage_(stage) {}

  base::Task<base::Result<void>> Tell() {
    for (const char* space : {"shop", "search"}) {
      const json::Value object = SpaceObject(In(space));
      auto made = co_await stage_.Create(kSpaces.Path(), object);
      if (!made) co_return made.error();
    }
    auto defined = co_await DefineUse();
    if (!defined) co_return defined;
    auto counted = co_await Count();
    if (!counted) co_return counted;
    auto refused = co_await Refuse();
    if (!refused) co_return refused;
    co_return co_await DeleteOne();
  }

 private:
  base::Task<base::Result<void>> DefineUse() {
    stage_.out()
        << "Bucket is a kind of another project; a UsageDefinition says what one uses:\n\n";
    auto defined = co_await CreateShown(kUsageDefinitions.Path(), kDefinition);
    if (!defined) co_return defined;
    auto read = co_await WaitReady(kUsageDefinitions.Path("", kDefinitionName));
    if (!read) co_return read;
    stage_.out() << "\nit is Ready; a ClusterQuota limits that over all namespaces of team a:\n\n";
    auto limited = co_await CreateShown(kUsageQuotas.Path(), kLimit);
    if (!limited) co_return limited;
    co_return co_await WaitReady(kUsageQuotas.Path("", kTeamQuota));
  }

  base::Task<base::Result<void>> Count() {
    stage_.out() << "\nit is Ready, too; a bucket in the namespace shop:\n\n";
    const auto began = stage_.scheduler().Now();
    auto first = co_await CreateShown(kBuckets.Path(In("shop")), kFirstBucket);
    if (!first) co_return first;
    stage_.out() << "\nand bucket logs of 30Gi in the namespace search" << std::endl;
    const json::Value logs = BucketObject("logs", "30Gi");
    auto second = co_await stage_.Create(kBuckets.Path(In("search")), logs);
    if (!second) co_return second.error();
    auto counted = co_await stage_.WaitUsed(kBytes, "90Gi");
    if (!counted) co_return counted.error();
    stage_.Show("counted", began, ListUsage(*counted));
    co_return base::Result<void>();
  }

  base::Task<base::Result<void>> Refuse() {
    stage_.out() << "\none more, bucket backup of 20Gi:\n" << std::endl;
    const json::Value backup = BucketObject("backup", "20Gi");
    auto created = co_await stage_.Create(kBuckets.Path(In("shop")), backup);
    auto refused = ShowRefusal(created, kTooManyBytes);
    if (!refused) co_return refused;
    stage_.out() << "\nbucket logs grows from 30Gi to 45Gi:\n" << std::endl;
    json::Value larger;
    larger.Make({"spec", "size"}) = "45Gi";
    auto patched = co_await stage_.Patch(kBuckets.Path(In("search"), "logs"), larger);
    co_return ShowRefusal(patched, kGrowsTooLarge);
  }

  base::Task<base::Result<void>> DeleteOne() {
    auto watch = co_await stage_.OpenWatch("");
    if (!watch) co_return watch.error();
    stage_.out() << "\ndeleting bucket images ..." << std::endl;
    const auto began = stage_.scheduler().Now();
    auto gone = co_await stage_.Delete(kBuckets.Path(In("shop"), "images"));
    if (!gone) co_return gone;
    auto fallen = co_await stage_.NextUsing(**watch, kBytes, "30Gi");
    if (!fallen) co_return fallen.error();
    stage_.Show("usage fell", began, ListUsage(*fallen));
    co_return base::Result<void>();
  }

  // Prints the object, indented, and creates it.
  base::Task<base::Result<void>> CreateShown(std::string path, std::string_view yaml) {
    for (std::size_t begin = 0, end = 0; begin < yaml.size(); begin = end + 1) {
      end = yaml.find('\n', begin);
      stage_.out() << "  " << yaml.substr(begin, end - begin) << "\n";
    }
    stage_.out() << std::flush;
    auto object = config::ParseYaml(yaml);
    if (!object) co_return object.error();
    auto created = co_await stage_.Create(std::move(path), std::move(*object));
    if (!created) co_return created.error();
    co_return base::Result<void>();
  }

  base::Task<base::Result<void>> WaitReady(std::string path) {
    const auto deadline = stage_.scheduler().Now() + stage_.patience();
    while (true) {
      auto object = co_await stage_.Get(path);
      if (!object) co_return object.error();
      if (IsReady(*object)) co_return base::Result<void>();
      if (stage_.scheduler().Now() >= deadline) {
        co_return NotAsTold(std::string(api::Name(*object)) + " did not become Ready");
      }
      co_await stage_.scheduler().Sleep(kLookForReady);
    }
  }

  // Fails unless the request was refused with these words.
  base::Result<void> ShowRefusal(const base::Result<json::Value>& answer, std::string_view words) {
    if (answer) return NotAsTold("it was not refused: the quota is not enforced");
    const std::string& said = answer.error().message;
    if (!said.ends_with(words)) return answer.error();
    const auto at = said.find("admission webhook");
    stage_.out() << said.substr(at == std::string::npos ? 0 : at) << std::endl;
    return {};
  }

  [[nodiscard]] std::string In(const std::string& space) const { return stage_.ns() + "-" + space; }

  Stage& stage_;
};

}  // namespace

base::Task<base::Result<void>> TellUsageStory(client::ApiClient& client, base::Scheduler& scheduler,
                                              StoryOptions options, std::ostream& out) {
  Stage stage(client, scheduler, std::move(options), out, kUsageQuotas, kTeamQuota,
              Stage::Scope::kCluster);
  UsageStory story(stage);
  co_return co_await story.Tell();
}

}  // namespace quickstart
