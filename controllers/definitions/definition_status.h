#pragma once

// What the status of a UsageDefinition says. No I/O; one thread.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "controllers/quota/events/status_conditions.h"
#include "controllers/usage/served_resources.h"
#include "pkg/base/error.h"
#include "pkg/json/value.h"
#include "pkg/quota/usage/definition_set.h"

namespace controllers {

// What the quota APIs know of the objects of a kind.
struct DefinedUse {
  bool watched = false;  // some quota has a name that needs them, so they are watched, or should be
  bool synced = false;
  bool forbidden = false;                   // the daemon may not list them
  std::optional<base::Error> trouble = {};  // why they cannot be listed or watched
  std::size_t objects = 0;                  // if `synced`
};

// What is known of a definition.
struct DefinitionState {
  quota::usage::Verdict verdict;
  DefinedUse objects;
  DefinedUse of_class;                        // of the objects of the kind of its class
  std::string lost;                           // as PathChecks::Lost()
  quota::usage::DefinitionVersions versions;  // that it reads, or read last
};

// The condition Ready.
QuotaCondition ReadyOf(const quota::usage::StoredDefinition& stored, const DefinitionState& state,
                       const ServedResources& served);

// A merge patch of the status. `now` as in WithConditions().
json::Value StatusOf(const quota::usage::StoredDefinition& stored, const DefinitionState& state,
                     const ServedResources& served, const std::string& now);

}  // namespace controllers
