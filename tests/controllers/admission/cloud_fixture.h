#pragma once

// A cloud of machines, volumes and buckets: requests for them, and an admitter of the ironcore API
// beside a fake cluster, which counts reads of single classes.

#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <utility>

#include "tests/controllers/quota/ironcore_fixture.h"

namespace cloud_fixture {

using fixture::IroncoreFixture;
using fixture::kMachineClasses;
using fixture::kMachines;
using fixture::kQuotas;
using fixture::MakeQuota;
using fixture::WithScope;

inline json::Value Object(const std::string& uid, json::Object spec) {
  return json::Object{
      {"metadata", json::Object{{"name", uid}, {"namespace", "team-a"}, {"uid", uid}}},
      {"spec", std::move(spec)}};
}

// A machine; of no class if `of` is "".
inline json::Value Machine(const std::string& of, const std::string& state = "",
                           const std::string& uid = "m") {
  json::Object spec;
  if (!of.empty()) spec.Set("machineClassRef", json::Object{{"name", of}});
  json::Value machine = Object(uid, std::move(spec));
  if (!state.empty()) machine.Make({"status", "state"}) = state;
  return machine;
}

inline json::Value Volume(const std::string& storage, const std::string& uid = "v") {
  return Object(uid, {{"volumeClassRef", json::Object{{"name", "fast"}}},
                      {"resources", json::Object{{"storage", storage}}}});
}

inline admission::Review Create(json::Value object,
                                const api::GroupVersionResource& resource = kMachines) {
  return {.uid = "call",
          .resource = resource,
          .subresource = "",
          .operation = admission::Operation::kCreate,
          .ns = "team-a",
          .name = "o",
          .object = std::move(object)};
}

struct Cloud : IroncoreFixture {
  Cloud() {
    PutClass("small", "2", "4Gi");
    cluster.fault = [this](const client::ApiRequest& request) { return CountReads(request); };
    RunFor(std::chrono::seconds(1));
  }
  // Counts reads of single classes. `class_trouble` is their answer, if there is one.
  std::optional<base::Error> CountReads(const client::ApiRequest& request) {
    const bool reads = std::ranges::any_of(request.query, [](const auto& one) {
      return one.first == "fieldSelector" && one.second.starts_with("metadata.name=");
    });
    if (!reads || request.path != kMachineClasses.Path()) return std::nullopt;
    ++class_reads;
    return class_trouble;
  }
  // Stores the quota and waits for its status. Then forgets all writes.
  void Put(const json::Value& quota) {
    cluster.Put(kQuotas, quota);
    RunFor(std::chrono::seconds(1));
    cluster.writes.clear();
  }
  void PutQuota(const std::string& name, const json::Object& hard) { Put(MakeQuota(name, hard)); }
  void PutQuotaOfClass(const std::string& name, const std::string& of, const json::Object& hard) {
    Put(WithScope(MakeQuota(name, hard), "MachineClass", "In", {of}));
  }
  // Stores the object.
  void Store(json::Value object, const api::GroupVersionResource& resource = kMachines) {
    cluster.Put(resource, std::move(object));
    RunFor(std::chrono::milliseconds(100));
  }
  // Stores `from`, forgets all writes, and returns an update of it.
  admission::Review Update(const json::Value& from, json::Value to,
                           const api::GroupVersionResource& resource = kMachines) {
    cluster.Put(resource, from);
    RunFor(std::chrono::milliseconds(500));
    cluster.writes.clear();
    admission::Review review = Create(std::move(to), resource);
    review.operation = admission::Operation::kUpdate;
    review.old_object =
        *cluster.Find(resource, "team-a", std::string(from.StringAt({"metadata", "name"})));
    return review;
  }

  admission::Answer Get(admission::Review review) {
    std::optional<admission::Answer> answer;
    calls.Spawn("call", [this, &answer, review = std::move(review)]() -> base::Task<void> {
      co_await base::DeferCancellation();
      const base::TimePoint deadline = scheduler.Now() + std::chrono::seconds(5);
      answer = co_await admitter->Admit(review, deadline);
    });
    RunFor(std::chrono::milliseconds(500));
    REQUIRE(answer.has_value());
    return *answer;
  }
  // "" if it is admitted, else "403 why".
  std::string Ask(admission::Review review) {
    const admission::Answer answer = Get(std::move(review));
    if (answer.kind == admission::Answer::Kind::kAllowed) return "";
    return std::to_string(answer.code) + " " + answer.message;
  }

  std::size_t class_reads = 0;
  std::optional<base::Error> class_trouble;
};

}  // namespace cloud_fixture
