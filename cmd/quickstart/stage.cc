#include "cmd/quickstart/stage.h"

#include <cstdio>

namespace quickstart {
namespace {

using std::chrono::milliseconds;

const api::GroupVersionResource kNamespaces{"", "v1", "namespaces"};

const api::GroupVersionResource kDefinitions{"apiextensions.k8s.io", "v1",
                                             "customresourcedefinitions"};

base::Task<base::Result<json::Value>> Write(client::ApiClient& client, std::string verb,
                                            std::string path, std::string_view type,
                                            json::Value object) {
  client::ApiRequest request;
  request.verb = std::move(verb);
  request.path = std::move(path);
  request.content_type = type;
  request.body = json::Write(object);
  co_return co_await client::DoJson(client, std::move(request));
}

base::Task<base::Result<void>> DeleteNow(client::ApiClient& client, std::string path) {
  client::ApiRequest request;
  request.verb = "DELETE";
  request.path = std::move(path);
  request.query.emplace_back("gracePeriodSeconds", "0");
  auto answer = co_await client.Do(std::move(request));
  if (!answer) co_return answer.error();
  co_return base::Result<void>();
}

// Returns the texts of the Warning headers: `299 - "text"`.
std::vector<std::string> WarningsOf(const http::Headers& headers) {
  std::vector<std::string> warnings;
  for (const auto& [name, value] : headers) {
    const auto first = value.find('"');
    const auto last = value.rfind('"');
    if (name != "Warning" || first == std::string::npos || last == first) continue;
    warnings.push_back(value.substr(first + 1, last - first - 1));
  }
  return warnings;
}

// The collection of the only version of a definition.
std::string CollectionOf(const json::Value& definition) {
  const json::Array& versions = definition.ArrayAt({"spec", "versions"});
  if (versions.empty()) return "";
  return api::GroupVersionResource{std::string(definition.StringAt({"spec", "group"})),
                                   std::string(versions.front().StringAt({"name"})),
                                   std::string(definition.StringAt({"spec", "names", "plural"}))}
      .Path();
}

// Takes whole lines off `lines` until a version uses this amount; null if none does.
json::Value TakeUsing(std::string& lines, const std::string& name, const std::string& amount,
                      std::string& last) {
  for (auto end = lines.find('\n'); end != std::string::npos; end = lines.find('\n')) {
    const auto event = json::Parse(std::string_view(lines).substr(0, end));
    lines.erase(0, end + 1);
    const json::Value* quota = event ? event->At({"object"}) : nullptr;
    if (quota == nullptr) continue;
    last = quota->StringAt({"status", "used", name});
    if (last == amount) return *quota;
  }
  return {};
}

}  // namespace

base::Error NotAsTold(std::string message) {
  return {.code = base::ErrorCode::kInternal, .message = std::move(message)};
}

Stage::Stage(client::ApiClient& client, base::Scheduler& scheduler, StoryOptions options,
             std::ostream& out, api::GroupVersionResource quotas, std::string quota, Scope scope)
    : client_(client),
      scheduler_(scheduler),
      options_(std::move(options)),
      out_(out),
      quotas_(std::move(quotas)),
      quota_(std::move(quota)),
      scope_(scope) {}

base::Task<base::Result<void>> Stage::MakeNamespace() {
  json::Value object;
  object.Make({"apiVersion"}) = "v1";
  object.Make({"kind"}) = "Namespace";
  object.Make({"metadata", "name"}) = options_.ns;
  auto created = co_await Create(kNamespaces.Path(), object);
  if (!created) co_return created.error();
  out_ << "created namespace " << options_.ns << std::endl;
  co_return base::Result<void>();
}

base::Task<base::Result<json::Value>> Stage::Create(std::string path, json::Value object) {
  return Write(client_, "POST", std::move(path), client::kJson, std::move(object));
}

base::Task<base::Result<std::vector<std::string>>> Stage::CreateWarned(std::string path,
                                                                       json::Value object) {
  client::ApiRequest request;
  request.verb = "POST";
  request.path = std::move(path);
  request.content_type = client::kJson;
  request.body = json::Write(object);
  auto answer = co_await client_.Do(std::move(request));
  if (!answer) co_return answer.error();
  co_return WarningsOf(answer->headers);
}

base::Task<base::Result<json::Value>> Stage::Get(std::string path) {
  client::ApiRequest request;
  request.path = std::move(path);
  co_return co_await client::DoJson(client_, std::move(request));
}

base::Task<base::Result<json::Value>> Stage::Patch(std::string path, json::Value merge_patch) {
  return Write(client_, "PATCH", std::move(path), client::kMergePatch, std::move(merge_patch));
}

base::Task<base::Result<void>> Stage::Delete(std::string path) {
  return DeleteNow(client_, std::move(path));
}

base::Task<base::Result<json::Value>> Stage::WaitUsed(std::string name, std::string amount,
                                                      std::string quota) {
  auto watch = co_await OpenWatch("", std::move(quota));
  if (!watch) co_return watch.error();
  co_return co_await NextUsing(**watch, std::move(name), std::move(amount));
}

base::Task<base::Result<std::unique_ptr<http::BodyStream>>> Stage::OpenWatch(std::string version,
                                                                             std::string quota) {
  client::ApiRequest request;
  request.path = quotas_.Path(scope_ == Scope::kCluster ? "" : options_.ns);
  request.query.emplace_back("watch", "1");
  request.query.emplace_back("fieldSelector", "metadata.name=" + (quota.empty() ? quota_ : quota));
  if (!version.empty()) request.query.emplace_back("resourceVersion", std::move(version));
  co_return co_await client_.Stream(std::move(request));
}

base::Task<base::Result<json::Value>> Stage::NextUsing(http::BodyStream& watch, std::string name,
                                                       std::string amount) {
  const auto deadline = scheduler_.Now() + options_.patience;
  std::string lines;
  std::string last = "nothing";
  while (scheduler_.Now() < deadline) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - scheduler_.Now());
    auto bytes = co_await watch.Read(left);
    if (!bytes && bytes.error().Is(base::ErrorCode::kCancelled)) co_return bytes.error();
    if (!bytes || !bytes->has_value()) break;
    lines += **bytes;
    json::Value quota = TakeUsing(lines, name, amount, last);
    if (!quota.IsNull()) co_return quota;
  }
  co_return base::Error{.code = base::ErrorCode::kTimeout,
                        .message = "quota " + quota_ + " never counted " + amount + " " + name +
                                   " (last: " + (last.empty() ? "nothing" : last) +
                                   "); is the daemon running?"};
}

void Stage::Show(std::string_view what, base::TimePoint since, std::string_view shown) {
  const auto took = std::chrono::duration<double, std::milli>(scheduler_.Now() - since).count();
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", took);
  out_ << "\n" << what << " after " << text << " ms:\n\n" << shown << std::flush;
}

base::Task<base::Result<void>> CleanUp(client::ApiClient& client, std::string ns) {
  auto deleted = co_await DeleteNow(client, kNamespaces.Path("", ns));
  if (!deleted && !deleted.error().Is(base::ErrorCode::kNotFound)) co_return deleted.error();
  co_return base::Result<void>();
}

base::Task<base::Result<void>> Define(client::ApiClient& client, base::Scheduler& scheduler,
                                      json::Value definition) {
  const std::string collection = CollectionOf(definition);
  if (collection.empty())
    co_return base::Error{.code = base::ErrorCode::kInvalidArgument,
                          .message = "not a CustomResourceDefinition with a version"};
  auto created = co_await Write(client, "POST", kDefinitions.Path(), client::kJson, definition);
  if (!created) co_return created.error();
  const auto deadline = scheduler.Now() + std::chrono::seconds(20);
  while (true) {
    client::ApiRequest request;
    request.path = collection;
    auto listed = co_await client.Do(std::move(request));
    if (listed) co_return base::Result<void>();
    const bool not_yet = listed.error().Is(base::ErrorCode::kNotFound);
    if (!not_yet || scheduler.Now() > deadline) co_return listed.error();
    co_await scheduler.Sleep(milliseconds(100));
  }
}

}  // namespace quickstart
