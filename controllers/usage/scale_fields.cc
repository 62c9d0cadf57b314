#include "controllers/usage/scale_fields.h"

#include <glog/logging.h>

#include <string_view>
#include <utility>

#include "pkg/json/projection.h"

namespace controllers {
namespace {

using quota::usage::FieldPath;

std::optional<FieldPath> FieldIn(const json::Value& crd, std::string_view version) {
  for (const json::Value& one : crd.ArrayAt({"spec", "versions"})) {
    if (one.StringAt({"name"}) != version) continue;
    auto path = FieldPath::Parse(one.StringAt({"subresources", "scale", "specReplicasPath"}));
    if (path && !path->HasEach()) return std::move(*path);
  }
  return std::nullopt;
}

}  // namespace

base::Task<base::Result<std::optional<FieldPath>>> ScaleFields::Find(
    api::GroupVersionResource resource, base::TimePoint deadline) {
  // Kubernetes' own kinds have no CRD.
  if (resource.group == "apps" || resource.group.empty())
    co_return Field(FieldPath::Parse(".spec.replicas").value());
  const base::TimePoint now = scheduler_.Now();
  const auto known = kept_.find(resource);
  if (known != kept_.end() && now < known->second.until) co_return known->second.field;
  client::ApiRequest request{
      .path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" +
              resource.WithoutVersion().ToString(),
      .timeout = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - now)};
  const auto answer = co_await client_.Do(std::move(request));
  Field field;
  if (answer) {
    const json::Projection wanted({"spec.versions.name", "spec.versions.subresources.scale"});
    const auto crd = json::Skim(answer->body, wanted);
    if (!crd) co_return crd.error().Wrap("the CRD of " + resource.ToString());
    field = FieldIn(*crd, resource.version);
  } else if (answer.error().Is(base::ErrorCode::kForbidden)) {
    LOG_IF(WARNING, !std::exchange(complained_, true))
        << "updates through the subresource scale are not decided: the daemon may not get "
           "customresourcedefinitions.apiextensions.k8s.io";
  } else if (!answer.error().Is(base::ErrorCode::kNotFound)) {
    co_return answer.error();
  }
  // Somebody scales such an object, so a CRD without the field is about to change, or has just
  // changed.
  const base::Duration kept = answer && !field ? base::Duration(kKeptWithout) : kKept;
  if (kept_.size() >= kMostKept) kept_.clear();
  kept_.insert_or_assign(resource, Kept{field, now + kept});
  co_return field;
}

}  // namespace controllers
