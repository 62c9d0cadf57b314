// The part of DefinitionController that writes statuses.

#include <glog/logging.h>

#include <utility>
#include <vector>

#include "controllers/definitions/definition_controller.h"
#include "pkg/api/time.h"

namespace controllers {
namespace {

// A number of objects alone is not written more often than this, and no status after a failure.
constexpr std::chrono::seconds kBetweenWrites{10};
constexpr std::chrono::seconds kBetweenStates{1};
constexpr std::chrono::seconds kWriteTimeout{10};

}  // namespace

DefinitionState DefinitionController::StateOf(const std::string& name,
                                              const quota::usage::StoredDefinition& stored) const {
  // While nothing is in force, the versions are remembered.
  DefinitionState state{.verdict = verdicts_.at(name), .versions = LastVersions(stored)};
  const auto defined = defined_.find(name);
  if (defined == defined_.end()) return state;
  const quota::usage::UsageDefinition& definition = *defined->second.definition;
  state.objects = hooks_.use_of(definition.resource);
  if (quota::usage::ClassOf(definition) != nullptr) {
    state.of_class = hooks_.class_use_of(definition.resource);
  }
  if (stored.in_force == stored.definition) state.lost = checks_.Lost(name);
  return state;
}

std::optional<base::TimePoint> DefinitionController::DueAt(
    const std::string& name, const quota::usage::StoredDefinition& stored,
    const json::Value& status) const {
  const auto same = [&](std::string_view member) {
    const json::Value* held = stored.status.At({member});
    return (held == nullptr ? json::Value() : *held) == *status.At({member});
  };
  const auto last = written_.find(name);
  // A CRD of a former release drops the versions, and the former generation.
  const bool written = last != written_.end() && !last->second.failed;
  const auto dropped = [&](std::string_view member) {
    return written && stored.status.At({member}) == nullptr;
  };
  const bool same_versions =
      (same("version") && same("classVersion")) ||
      (dropped("version") && last->second.versions == quota::usage::VersionsIn(status));
  const bool same_state = same("observedGeneration") && same("conditions") && same_versions &&
                          (same("inForce") || dropped("inForce"));
  if (same_state && same("counted")) return std::nullopt;
  if (last == written_.end()) return base::TimePoint::min();
  const bool soon = !same_state && !last->second.failed;
  return last->second.at + (soon ? kBetweenStates : kBetweenWrites);
}

base::Task<void> DefinitionController::WriteStatus() {
  std::vector<std::string> names;
  for (const auto& [name, stored] : set_.stored()) names.push_back(name);
  for (const std::string& name : names) {
    // What is listed again is judged, and put in force, after the list.
    if (listing_ || !hooks_.leading()) co_return;
    const auto at = set_.stored().find(name);
    const base::TimePoint now = context_.scheduler->Now();
    if (at == set_.stored().end() || !verdicts_.contains(name)) continue;
    const quota::usage::StoredDefinition& stored = at->second;
    // The verdict is about another version: this one is not in force, and perhaps never will be.
    if (judged_.at(name) != stored.version) continue;
    // Its first verdict may be wrong, or says nothing yet.
    if (checks_.IsPending(name) || waiting_.contains(name)) continue;
    // A definition that came meanwhile has taken its room.
    if (verdicts_.at(name).reason.empty() && stored.in_force == nullptr) continue;
    json::Value status = StatusOf(stored, StateOf(name, stored), served_,
                                  api::FormatTime(context_.scheduler->WallNow()));
    const auto due = DueAt(name, stored, status);
    if (!due || *due > now) continue;
    Written written{.at = now, .versions = quota::usage::VersionsIn(status)};
    json::Value patch = json::Object{{"status", std::move(status)}};
    patch.Make({"metadata", "uid"}) = stored.uid;
    patch.Make({"metadata", "resourceVersion"}) = stored.version;
    client::ApiRequest request{.verb = "PATCH",
                               .path = DefinitionResource().Path("", name, "status"),
                               .query = {{"fieldManager", "quota-controller-manager"}},
                               .content_type = std::string(client::kMergePatch),
                               .body = json::Write(patch),
                               .timeout = kWriteTimeout};
    const auto answer = co_await client::DoJson(*context_.client, std::move(request));
    written.failed = !answer;
    written_.insert_or_assign(name, std::move(written));
    if (!answer && !answer.error().Is(base::ErrorCode::kConflict)) {
      SayUnwritten(name, answer.error());
    }
    if (co_await base::Stopping()) co_return;
  }
}

void DefinitionController::SayUnwritten(const std::string& name, const base::Error& error) {
  const auto more = unwritten_.Take(name, context_.scheduler->Now());
  if (!more) return;
  LOG(WARNING) << "the status of a UsageDefinition cannot be written definition=" << name << *more
               << " error=" << json::Quote(error.message);
}

}  // namespace controllers
