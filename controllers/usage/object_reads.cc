#include "controllers/usage/object_reads.h"

#include <glog/logging.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "pkg/api/names.h"
#include "pkg/api/object_meta.h"
#include "pkg/base/text.h"
#include "pkg/json/projection.h"

namespace controllers {
namespace {

using quota::usage::FieldPath;

// If the server lacks a class, it is not asked again sooner. By then our watch shows the class.
constexpr std::chrono::milliseconds kMissAge{250};
// A creation waits at most this long to learn whether its name is taken, and at most so many wait.
// Any client can cause these reads.
constexpr std::chrono::milliseconds kLooksUpName{500};
constexpr std::size_t kMostLooks = 64;
constexpr std::chrono::seconds kWithoutFieldKept{1};  // if the CRD names none
constexpr std::size_t kMostFields = 256;

struct CountLook {
  explicit CountLook(std::size_t& looks) : looks_(looks) { ++looks_; }
  ~CountLook() { --looks_; }
  CountLook(const CountLook&) = delete;
  CountLook& operator=(const CountLook&) = delete;

 private:
  std::size_t& looks_;
};

base::Error NotFound(const std::string& name) {
  return {.code = base::ErrorCode::kNotFound, .message = name + " not found"};
}

const json::Value* FindNamed(const json::Value& list, const std::string& name) {
  for (const json::Value& item : list.ArrayAt({"items"})) {
    if (api::Name(item) == name) return &item;
  }
  return nullptr;
}

// Reads the object of this name from a collection; null if there is none. Uses a list with a
// fieldSelector instead of a GET, which needs only the right to list. A 404 for the list says
// nothing about the object, so it must not mean "not found".
base::Task<base::Result<json::Value>> ReadNamed(client::ApiClient& client, std::string collection,
                                                std::string name, base::Duration timeout) {
  client::ApiRequest request{
      .path = std::move(collection),
      .query = {{"fieldSelector", "metadata.name=" + name}},
      .timeout = std::chrono::duration_cast<std::chrono::milliseconds>(timeout)};
  const auto answer = co_await client::DoJson(client, std::move(request));
  if (answer) {
    const json::Value* const found = FindNamed(*answer, name);
    co_return found == nullptr ? json::Value() : *found;
  }
  base::Error error = answer.error();
  if (error.Is(base::ErrorCode::kNotFound)) error.code = base::ErrorCode::kUnavailable;
  co_return error;
}

std::optional<FieldPath> FieldIn(const json::Value& crd, std::string_view version) {
  for (const json::Value& one : crd.ArrayAt({"spec", "versions"})) {
    if (one.StringAt({"name"}) != version) continue;
    auto path = FieldPath::Parse(one.StringAt({"subresources", "scale", "specReplicasPath"}));
    if (path && !path->HasEach()) return std::move(*path);
  }
  return std::nullopt;
}

}  // namespace

base::Task<base::Result<quota::ClassUsage>> ObjectReads::ReadClass(
    const quota::Evaluator& evaluator, std::string name, base::TimePoint deadline) {
  // A user chose this name, and it becomes part of a path.
  if (!api::IsDns1123Subdomain(name)) co_return NotFound(name);
  const api::GroupResource& resource = evaluator.classes->resource;
  const auto served = served_.FindIn(evaluator.classes->version, resource, ResourceScope::kCluster);
  if (!served && served_.IsAbsent(resource, ResourceScope::kCluster)) co_return NotFound(name);
  if (!served) {
    co_return base::Error{
        .code = base::ErrorCode::kUnavailable,
        .message = "it is not known whether the server has " + resource.ToString()};
  }
  const std::string path = served->Path({}, name);
  const base::TimePoint now = scheduler_.Now();
  std::erase_if(missed_, [&](const auto& entry) { return now - entry.second >= kMissAge; });
  if (missed_.contains(path)) co_return NotFound(name);
  const auto found = co_await ReadNamed(client_, served->Path(), name, deadline - now);
  if (!found) co_return found.error();
  if (!found->IsNull()) co_return evaluator.classes->usage_of(*found);
  missed_[path] = now;  // when it was asked: the answer may be old already
  co_return NotFound(name);
}

base::Task<base::Result<std::optional<admission::ScaledObject>>> ObjectReads::ReadScaled(
    const quota::Evaluator& evaluator, std::string ns, std::string name, base::TimePoint deadline) {
  std::optional<admission::ScaledObject> scaled;
  const api::GroupVersionResource resource{evaluator.resource.group, evaluator.version,
                                           evaluator.resource.resource};
  if (resource.version.empty()) {
    co_return base::Error{.code = base::ErrorCode::kUnavailable,
                          .message = "it is not known yet in which version " +
                                     evaluator.resource.ToString() + " are served"};
  }
  // The name becomes part of a selector.
  if (!api::IsDns1123Subdomain(name)) co_return scaled;
  if (scales_ >= kMostLooks) {
    co_return base::Error{.code = base::ErrorCode::kUnavailable,
                          .message = "too many objects are being scaled at once"};
  }
  const CountLook look(scales_);
  const auto field = co_await ScaleFieldOf(resource, deadline);
  if (!field) co_return field.error();
  if (!*field || !base::IsOneOf((*field)->Projected(), evaluator.fields)) co_return scaled;
  auto found = co_await ReadNamed(client_, resource.Path(ns), name, deadline - scheduler_.Now());
  if (!found) co_return found.error();
  if (found->IsNull()) co_return scaled;
  scaled.emplace().stored = *std::move(found);
  for (const auto& step : (*field)->steps()) scaled->replicas.push_back(step.name);
  co_return scaled;
}

// The list is consistent, because it names no version. An object that is deleted between this read
// and the store is no harm: the client creates again, as after any such answer.
base::Task<bool> ObjectReads::IsTaken(std::string collection, std::string name, quota::Uid uid,
                                      base::TimePoint deadline) {
  // The name becomes part of a selector.
  if (looks_ >= kMostLooks || !api::IsDns1123Subdomain(name)) co_return false;
  const CountLook look(looks_);
  const base::Duration left = deadline - scheduler_.Now();
  auto request = client::ListMetadataOf(std::move(collection), name,
                                        std::chrono::duration_cast<std::chrono::milliseconds>(
                                            std::min<base::Duration>(left, kLooksUpName)));
  const auto answer = co_await client::DoJson(client_, std::move(request));
  const json::Value* found = answer ? FindNamed(*answer, name) : nullptr;
  if (found == nullptr) co_return false;
  co_return quota::Uid::FromText(api::Uid(*found)) != uid;
}

base::Task<base::Result<ObjectReads::Field>> ObjectReads::ScaleFieldOf(
    api::GroupVersionResource resource, base::TimePoint deadline) {
  // Kubernetes' own kinds have no CRD.
  if (resource.group == "apps" || resource.group.empty())
    co_return Field(FieldPath::Parse(".spec.replicas").value());
  const base::TimePoint now = scheduler_.Now();
  const auto known = scale_fields_.find(resource);
  if (known != scale_fields_.end() && now < known->second.until) co_return known->second.field;
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
  const base::Duration kept = answer && !field ? base::Duration(kWithoutFieldKept) : kFieldKept;
  if (scale_fields_.size() >= kMostFields) scale_fields_.clear();
  scale_fields_.insert_or_assign(resource, Kept{field, now + kept});
  co_return field;
}

}  // namespace controllers
