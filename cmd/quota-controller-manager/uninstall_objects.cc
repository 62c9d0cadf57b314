#include "cmd/quota-controller-manager/uninstall_objects.h"

#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "controllers/applied/applied_object.h"
#include "informers/reflector.h"
#include "pkg/api/object_meta.h"
#include "pkg/webhook/ownership.h"

namespace manager {
namespace {

constexpr std::chrono::milliseconds kAnswerTimeout = std::chrono::seconds(15);

std::string OurSelector() {
  return std::string(webhook::kManagedByLabel) + "=" + std::string(webhook::kManagedByUs);
}

struct Found {
  std::map<std::string, std::size_t> ours;  // by namespace
  std::size_t foreign = 0;
};

base::Task<base::Result<Found>> List(client::ApiClient& client, const base::Clock& clock,
                                     api::GroupVersionResource resource) {
  Found found;
  informers::ReflectorOptions what{.resource = std::move(resource)};
  what.fields = {"metadata.labels"};
  const auto add = [&](const json::Value& object) {
    if (controllers::IsOurs(object)) {
      ++found.ours[std::string(api::Namespace(object))];
    } else {
      ++found.foreign;
    }
  };
  auto listed =
      co_await informers::ListAll(client, clock, std::move(what), add, [&] { found = Found(); });
  // The server does not serve the kind.
  if (!listed && listed.error().Is(base::ErrorCode::kNotFound)) co_return Found();
  if (!listed) co_return listed.error();
  co_return found;
}

// The API server deletes only objects that have our label when it reads them.
base::Task<base::Result<void>> DeleteOursIn(client::ApiClient& client,
                                            api::GroupVersionResource resource, std::string ns) {
  client::ApiRequest request{.verb = "DELETE",
                             .path = resource.Path(ns),
                             .query = {{"labelSelector", OurSelector()}},
                             .timeout = kAnswerTimeout};
  auto answer = co_await client.Do(std::move(request));
  // The namespace is gone.
  if (!answer && !answer.error().Is(base::ErrorCode::kNotFound)) co_return answer.error();
  co_return base::Result<void>();
}

}  // namespace

base::Task<base::Result<ObjectsRemoval>> RemoveObjects(client::ApiClient& client,
                                                       base::Scheduler& scheduler,
                                                       api::GroupVersionResource resource,
                                                       base::TimePoint until) {
  const auto listed = co_await List(client, scheduler, resource);
  if (!listed) co_return listed.error();
  ObjectsRemoval removal{.foreign = listed->foreign};
  for (const auto& [ns, count] : listed->ours) {
    if (scheduler.Now() >= until) {
      co_return base::Error{.code = base::ErrorCode::kTimeout,
                            .message = std::to_string(listed->ours.size() - removal.namespaces) +
                                       " namespaces still have " + resource.resource +
                                       ": run --uninstall again"};
    }
    const std::string place = ns;
    auto deleted = co_await DeleteOursIn(client, resource, place);
    if (!deleted) co_return deleted.error();
    removal.deleted += count;
    ++removal.namespaces;
  }
  co_return removal;
}

base::Task<base::Result<bool>> AnyObject(client::ApiClient& client,
                                         api::GroupVersionResource resource) {
  client::ApiRequest request{.path = resource.Path(),
                             .query = {{"labelSelector", OurSelector()}, {"limit", "1"}},
                             .timeout = kAnswerTimeout};
  const auto list = co_await client::DoJson(client, std::move(request));
  if (!list && list.error().Is(base::ErrorCode::kNotFound)) co_return false;
  if (!list) co_return list.error();
  co_return !list->ArrayAt({"items"}).empty();
}

}  // namespace manager
