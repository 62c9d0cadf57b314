#include "cmd/quota-controller-manager/uninstall_applied.h"

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

struct Applied {
  std::map<std::string, std::size_t> ours;  // by namespace
  std::size_t foreign = 0;
};

base::Task<base::Result<Applied>> ListApplied(client::ApiClient& client, const base::Clock& clock) {
  Applied applied;
  informers::ReflectorOptions what{.resource = controllers::AppliedResource()};
  what.fields = {"metadata.labels"};
  const auto add = [&](const json::Value& object) {
    if (controllers::IsOurs(object)) {
      ++applied.ours[std::string(api::Namespace(object))];
    } else {
      ++applied.foreign;
    }
  };
  auto listed = co_await informers::ListAll(client, clock, std::move(what), add,
                                            [&] { applied = Applied(); });
  // The server does not serve the kind.
  if (!listed && listed.error().Is(base::ErrorCode::kNotFound)) co_return Applied();
  if (!listed) co_return listed.error();
  co_return applied;
}

// The API server deletes only objects that have our label when it reads them.
base::Task<base::Result<void>> DeleteOursIn(client::ApiClient& client, std::string ns) {
  client::ApiRequest request{.verb = "DELETE",
                             .path = controllers::AppliedResource().Path(ns),
                             .query = {{"labelSelector", OurSelector()}},
                             .timeout = kAnswerTimeout};
  auto answer = co_await client.Do(std::move(request));
  // The namespace is gone.
  if (!answer && !answer.error().Is(base::ErrorCode::kNotFound)) co_return answer.error();
  co_return base::Result<void>();
}

}  // namespace

base::Task<base::Result<AppliedRemoval>> RemoveApplied(client::ApiClient& client,
                                                       base::Scheduler& scheduler,
                                                       base::TimePoint until) {
  const auto listed = co_await ListApplied(client, scheduler);
  if (!listed) co_return listed.error();
  AppliedRemoval removal{.foreign = listed->foreign};
  for (const auto& [ns, count] : listed->ours) {
    if (scheduler.Now() >= until) {
      co_return base::Error{.code = base::ErrorCode::kTimeout,
                            .message = std::to_string(listed->ours.size() - removal.namespaces) +
                                       " namespaces still have AppliedClusterQuotas: run "
                                       "--uninstall again"};
    }
    const std::string place = ns;
    auto deleted = co_await DeleteOursIn(client, place);
    if (!deleted) co_return deleted.error();
    removal.deleted += count;
    ++removal.namespaces;
  }
  co_return removal;
}

base::Task<base::Result<bool>> AnyApplied(client::ApiClient& client) {
  client::ApiRequest request{.path = controllers::AppliedResource().Path(),
                             .query = {{"labelSelector", OurSelector()}, {"limit", "1"}},
                             .timeout = kAnswerTimeout};
  const auto list = co_await client::DoJson(client, std::move(request));
  if (!list && list.error().Is(base::ErrorCode::kNotFound)) co_return false;
  if (!list) co_return list.error();
  co_return !list->ArrayAt({"items"}).empty();
}

}  // namespace manager
