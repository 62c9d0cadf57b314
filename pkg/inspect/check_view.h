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
  std::string refusal = {};       // "": it accepts
  bool refusal_foreseen = false;  // by the quotas, for the object by itself
  std::string unknown = {};       // why it could not be asked; "" if it could
  [[nodiscard]] bool Refused() const { return unknown.empty() && !refusal.empty(); }
};

// All that was looked at.
struct Checked {
  std::vector<CheckedSpace> spaces;
  std::vector<std::string> notes;
  std::vector<ServerAnswer> server;
};

// "server: deployment.apps/web is accepted", one line each; where this is not what was foreseen
// here the line says so.
std::string ServerText(const std::vector<ServerAnswer>& answers);

// One line a quota and name that is asked for: before, asked, after, limit.
Table CheckTable(const std::vector<CheckedSpace>& spaces);
// "deployment.apps/web: failed quota: …" for each, then what it comes to: "Yes: …", "No: …".
std::string CheckVerdict(const std::vector<CheckedSpace>& spaces);
bool FitsAll(const std::vector<CheckedSpace>& spaces);

json::Value CheckValue(const Checked& checked);
// One test case a quota and name, one for each object that a quota demands something of, and one
// for each that the server was asked about.
std::string CheckJunit(const Checked& checked);

}  // namespace inspect
