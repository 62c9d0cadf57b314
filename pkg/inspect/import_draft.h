#pragma once

// Collects what Import() makes of one object after the other. It writes only ClusterQuotas that the
// daemon reads completely, and no name that it never counts. Single-threaded.

#include <set>
#include <string>
#include <string_view>

#include "pkg/inspect/import.h"

namespace inspect {

class ImportDraft {
 public:
  explicit ImportDraft(std::string_view enforcement) : enforcement_(enforcement) {}

  // The following calls are about this object.
  void Begin(const Manifest& manifest);

  // The members hard, scopes and scopeSelector of `limits` become a ClusterQuota. Other members are
  // reported as lost. `set_by`: the tool that sets the labels of the selector; "": the user does.
  void Write(const std::string& field, const std::string& name, const json::Value& limits,
             json::Value selector, std::string_view set_by);
  // The part has a place that it keeps.
  void Keep(const std::string& field, const std::string& why);
  // The part should have become something, and cannot.
  void Lose(const std::string& field, const std::string& why);
  // Loses each member of the object `at` that is not in `known`. `field` is the path of `at`.
  void LoseOthers(const json::Value& at, const std::string& field,
                  const std::set<std::string_view>& known);

  // True if the object has a row.
  [[nodiscard]] bool HasRow() const { return imported_.rows.size() > before_; }
  Imported Take() { return std::move(imported_); }

 private:
  void Row(const std::string& field, const std::string& to, const std::string& why, bool lost);
  void LoseUncountable(const std::string& field, json::Value& quota);
  bool IsReadable(const std::string& field, const json::Value& quota);

  std::string enforcement_;
  std::string from_;
  std::size_t before_ = 0;
  std::set<std::string> names_;
  Imported imported_;
};

}  // namespace inspect
