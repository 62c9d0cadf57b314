#pragma once

// How `check` shows whether something fits. Pure; any thread.

#include <string>
#include <vector>

#include "pkg/inspect/fit.h"
#include "pkg/inspect/table.h"

namespace inspect {

// What was checked of one namespace.
struct CheckedSpace {
  std::string ns;
  FitBook book;
};

// What the server says to one object when it is asked to create it without doing so.
struct ServerAnswer {
  ObjectName of;
  std::string refusal;            // "": it accepts
  bool refusal_foreseen = false;  // by the quotas, for the object by itself
};
// "server: deployment.apps/web is accepted", one line each; where this is not what was foreseen
// here the line says so.
std::string ServerText(const std::vector<ServerAnswer>& answers);

// One line a quota and name that is asked for: before, asked, after, limit.
Table CheckTable(const std::vector<CheckedSpace>& spaces);
// "deployment.apps/web: failed quota: …" for each, then what it comes to: "Yes: …", "No: …".
std::string CheckVerdict(const std::vector<CheckedSpace>& spaces);
bool FitsAll(const std::vector<CheckedSpace>& spaces);

json::Value CheckValue(const std::vector<CheckedSpace>& spaces,
                       const std::vector<std::string>& notes);
// One test case a quota and name, and one for each object that a quota demands something of.
std::string CheckJunit(const std::vector<CheckedSpace>& spaces);

}  // namespace inspect
