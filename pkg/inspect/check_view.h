#pragma once

// The output of `kubectl quota check`. Pure; any thread.

#include <string>
#include <vector>

#include "pkg/inspect/fit.h"
#include "pkg/inspect/table.h"

namespace inspect {

// The result for the quotas of one API in one namespace.
struct CheckedSpace {
  std::string ns;
  FitBook book;
};

// The server's answer to the dry run of one object.
struct ServerAnswer {
  ObjectName of;
  std::string refusal = {};       // "": accepted
  bool refusal_foreseen = false;  // our quotas refuse this object alone, too
  std::string unknown = {};       // why the server did not judge it; "" if it did
  bool unanswered = false;        // because it could not answer
  [[nodiscard]] bool Refused() const { return unknown.empty() && !refusal.empty(); }
};

// The whole result.
struct Checked {
  std::vector<CheckedSpace> spaces;
  std::vector<std::string> notes;
  std::vector<ServerAnswer> server;
  std::vector<std::string> unknown = {};  // what may limit or be needed, and could not be seen
  bool allow_unknown = false;             // answer as if it did neither
};

// Yes only if everything that may limit was seen.
enum class Answer { kYes, kNo, kUnknown };
Answer AnswerOf(const Checked& checked);

// Returns a line "server: deployment.apps/web is accepted" for each answer. A line says so if the
// answer differs from the prediction.
std::string ServerText(const std::vector<ServerAnswer>& answers);

// Returns a row for each quota and name with a need: before, asked, after, limit. `wide` adds what
// the asked amount is made of.
Table CheckTable(const std::vector<CheckedSpace>& spaces, bool wide = false);
// Returns "deployment.apps/web: failed quota: …" for each objection, then the verdict: "Yes: …",
// "No: …" or "Cannot tell: …".
std::string CheckVerdict(const Checked& checked);
bool FitsAll(const std::vector<CheckedSpace>& spaces);

json::Value CheckValue(const Checked& checked);
// Returns a test case for each quota and name, for each object with a missing requirement, and for
// each object that the server was asked about.
std::string CheckJunit(const Checked& checked);

}  // namespace inspect
