#pragma once

// The writers of a status: one entry in metadata.managedFields for each manager that updated it by
// /status. Writes of the rest of an object are not recorded, and lists are one field each. No I/O;
// any thread.

#include <string>

#include "pkg/json/value.h"

namespace sandbox {

// The manager of a write, its API version, and its time.
struct StatusWriter {
  std::string manager;
  std::string api_version;
  std::string timestamp;
};

// The writer becomes the only owner of each status field that differs from the old status.
void RecordStatusUpdate(const json::Value& old, json::Value& object, const StatusWriter& writer);

}  // namespace sandbox
