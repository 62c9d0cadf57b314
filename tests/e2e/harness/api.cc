#include "tests/e2e/harness/api.h"

#include <optional>
#include <stdexcept>

#include "pkg/base/task_group.h"
#include "pkg/client/cluster_config.h"
#include "tests/e2e/harness/connection.h"

namespace e2e {
namespace {

const std::map<std::string_view, std::string_view> kGroups{
    {"deployments", "/apis/apps/v1"},
    {"replicasets", "/apis/apps/v1"},
    {"statefulsets", "/apis/apps/v1"},
    {"daemonsets", "/apis/apps/v1"},
    {"jobs", "/apis/batch/v1"},
    {"leases", "/apis/coordination.k8s.io/v1"},
    {"ingresses", "/apis/networking.k8s.io/v1"},
    {"runtimeclasses", "/apis/node.k8s.io/v1"},
    {"resourceclaims", "/apis/resource.k8s.io/v1"},
    {"storageclasses", "/apis/storage.k8s.io/v1"},
    {"volumeattributesclasses", "/apis/storage.k8s.io/v1"},
    {"apiservices", "/apis/apiregistration.k8s.io/v1"},
    {"priorityclasses", "/apis/scheduling.k8s.io/v1"},
    {"customresourcedefinitions", "/apis/apiextensions.k8s.io/v1"},
    {"storageclasses", "/apis/storage.k8s.io/v1"},
    {"validatingwebhookconfigurations", "/apis/admissionregistration.k8s.io/v1"},
    {"clusterroles", "/apis/rbac.authorization.k8s.io/v1"},
    {"clusterrolebindings", "/apis/rbac.authorization.k8s.io/v1"},
};

client::ClusterConfig ConfigOf(const std::string& kubeconfig_path) {
  client::LoadOptions options;
  options.kubeconfig = kubeconfig_path;
  options.environment = [](std::string_view) { return std::optional<std::string>(); };
  auto config = client::LoadClusterConfig(options);
  if (!config) throw std::runtime_error(config.error().message);
  return std::move(*config);
}

json::Value BodyOf(const base::Result<client::ApiResponse>& answer) {
  if (!answer) throw std::runtime_error(answer.error().message);
  return Json(answer->body);
}

}  // namespace

std::string PathOf(std::string_view resource, std::string_view ns, std::string_view name,
                   std::string_view subresource) {
  const auto group = kGroups.find(resource);
  std::string path(group == kGroups.end() ? "/api/v1" : group->second);
  if (!ns.empty()) path.append("/namespaces/").append(ns);
  path.append("/").append(resource);
  for (const auto part : {name, subresource}) {
    if (!part.empty()) path.append("/").append(part);
  }
  return path;
}

json::Value Json(std::string_view text) {
  auto value = json::Parse(text);
  if (!value) {
    throw std::runtime_error(value.error().message + " in: " + std::string(text.substr(0, 400)));
  }
  return std::move(*value);
}

int MinorVersion(Api& api) {
  return std::stoi(std::string(api.Get("/version").StringAt({"minor"})));
}

json::Value BodyOfPost(const std::string& kubeconfig_path, const std::string& path,
                       const json::Value& object) {
  const client::ClusterConfig config = ConfigOf(kubeconfig_path);
  base::asio::io_context io{1};
  auto http = http::NewClient(io.get_executor(), {.server = config.server, .tls = config.tls});
  if (!http) throw std::runtime_error(http.error().message);
  http::Request request{.method = "POST", .target = path, .body = json::Write(object)};
  request.headers.Set("Content-Type", std::string(client::kJson));
  request.headers.Set("Accept", std::string(client::kJson));
  if (!config.token.empty()) request.headers.Set("Authorization", "Bearer " + config.token);
  base::Result<http::Response> answer = base::Error{.message = "the request was never sent"};
  base::TaskGroup group(io.get_executor());
  group.Spawn("e2e post", [&]() -> base::Task<void> {
    answer = co_await (*http)->Do(std::move(request), Stretched(60s));
  });
  while (!group.empty() && io.run_one() > 0) continue;
  if (!answer) throw std::runtime_error(answer.error().message);
  return Json(answer->body);
}

void WaitServed(Api& api, const std::string& path, std::chrono::milliseconds timeout) {
  const auto missing = [&]() -> std::string {
    const auto answer = api.Do({.path = path, .timeout = Stretched(5s)});
    return answer ? "" : answer.error().message;
  };
  Eventually(path + " is served", missing, timeout);
}

Connection::Connection(const std::string& kubeconfig_path) {
  auto made = client::NewRestClient(io.get_executor(), scheduler, ConfigOf(kubeconfig_path),
                                    {.user_agent = "quota-e2e/1"});
  if (!made) throw std::runtime_error(made.error().message);
  rest = std::move(*made);
}

Api::Api(const std::string& kubeconfig_path)
    : connection_(std::make_unique<Connection>(kubeconfig_path)) {}

Api::~Api() = default;

base::Result<client::ApiResponse> Api::Do(client::ApiRequest request) {
  std::vector<client::ApiRequest> one;
  one.push_back(std::move(request));
  return std::move(DoAll(std::move(one), 1).front());
}

std::vector<base::Result<client::ApiResponse>> Api::DoAll(std::vector<client::ApiRequest> requests,
                                                          std::size_t parallel) {
  std::vector<base::Result<client::ApiResponse>> answers(
      requests.size(), base::Error{.message = "the request was never sent"});
  std::size_t next = 0;
  base::TaskGroup group(connection_->io.get_executor());
  const auto worker = [&]() -> base::Task<void> {
    while (next < requests.size()) {
      const std::size_t mine = next++;
      // Tests read whole lists.
      requests[mine].max_answer_bytes = std::size_t{60} << 20;
      answers[mine] = co_await connection_->rest->Do(std::move(requests[mine]));
    }
  };
  for (std::size_t i = 0; i < parallel && i < requests.size(); ++i)
    group.Spawn("e2e request", worker);
  connection_->io.restart();
  while (!group.empty() && connection_->io.run_one() > 0) {
  }
  return answers;
}

json::Value Api::Must(client::ApiRequest request) { return BodyOf(Do(std::move(request))); }

json::Value Api::Create(const std::string& path, const json::Value& object) {
  return Must({.verb = "POST",
               .path = path,
               .content_type = std::string(client::kJson),
               .body = json::Write(object)});
}

json::Value Api::Get(const std::string& path) { return Must({.path = path}); }

json::Value Api::MergePatch(const std::string& path, const json::Value& patch) {
  return Must({.verb = "PATCH",
               .path = path,
               .content_type = std::string(client::kMergePatch),
               .body = json::Write(patch)});
}

void Api::Delete(const std::string& path) {
  const auto answer =
      Do({.verb = "DELETE",
          .path = path,
          .query = {{"gracePeriodSeconds", "0"}, {"propagationPolicy", "Background"}}});
  if (!answer && !answer.error().Is(base::ErrorCode::kNotFound)) {
    throw std::runtime_error(answer.error().message);
  }
}

bool Api::Exists(const std::string& path) {
  const auto answer = Do({.path = path});
  if (!answer && !answer.error().Is(base::ErrorCode::kNotFound)) {
    throw std::runtime_error(answer.error().message);
  }
  return answer.has_value();
}

}  // namespace e2e
