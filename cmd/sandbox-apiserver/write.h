#pragma once

// A write between its steps, what it was asked with, and what came of it. Values; any thread.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cmd/sandbox-apiserver/objects.h"
#include "cmd/sandbox-apiserver/outcome.h"
#include "pkg/json/value.h"

namespace sandbox {

enum class FieldValidation { kIgnore, kWarn, kStrict };

struct WriteOptions {
  bool dry_run = false;
  std::string field_manager;
  FieldValidation field_validation = FieldValidation::kWarn;
};

struct DeleteOptions {
  std::optional<std::int64_t> grace_period_seconds;
  std::string uid;  // preconditions; "" = none
  std::string resource_version;
  bool dry_run = false;

  // From a DeleteOptions body; null (no body) gives the defaults.
  static Outcome<DeleteOptions> FromJson(const json::Value& body);
};

enum class Operation { kCreate, kUpdate, kDelete };

// A write between its steps.
struct PendingWrite {
  Target target;  // with the name, once it is known
  Operation operation = Operation::kCreate;
  json::Value object;    // as it will be stored; null for a delete
  ObjectPtr old_object;  // as it is stored; null for a create
  bool dry_run = false;
  bool unconditional = false;  // no precondition: after a lost race it may be prepared again
  WriteOptions options;
  DeleteOptions delete_options;       // of a delete
  std::vector<std::string> warnings;  // for Warning headers
};

struct WriteResult {
  ObjectPtr object;          // in the requested version; after a removal, the last state
  bool created = false;      // 201
  bool changed = false;      // an event was added to the history
  bool removed = false;      // the object is gone
  bool show_status = false;  // a removal that is answered with a Status, not with the object
  std::vector<std::string> warnings;
};

}  // namespace sandbox
