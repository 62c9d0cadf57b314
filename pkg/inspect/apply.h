#pragma once

// Computes what `kubectl apply` makes of a stored object: it sets the fields of the manifest, and
// deletes the fields that the last manifest set and this one lacks. Pure; any thread.

#include <initializer_list>
#include <string_view>

#include "pkg/json/value.h"

namespace inspect {

class Apply {
 public:
  // Both must outlive it.
  Apply(const json::Value& manifest, const json::Value& stored);

  // True if the manifest has everything that the last applied one had at the path, so that nothing
  // there is deleted. Also true if the stored object does not tell what was applied.
  [[nodiscard]] bool Keeps(std::initializer_list<std::string_view> path) const;
  // Returns what is at the path after the manifest is applied. A field that the manifest omits
  // keeps the value that another writer set. nullptr: there is nothing.
  [[nodiscard]] const json::Value* After(std::initializer_list<std::string_view> path) const;
  // True if the stored object tells what was applied last.
  [[nodiscard]] bool KnowsLast() const { return !last_.IsNull(); }

 private:
  const json::Value& manifest_;
  const json::Value& stored_;
  const json::Value last_;  // the manifest that was applied last; null if it is not known
};

// Returns the stored object with the fields that the manifest sets. Members of a list with the same
// name are merged. The status stays as it is, because only the server writes it.
json::Value Overlay(json::Value stored, const json::Value& manifest);

// Returns the stored object after the manifest is applied: without the fields that the last applied
// manifest set and this one lacks, and with those that this one sets.
json::Value Applied(const json::Value& manifest, json::Value stored);

// Returns the labels of a Namespace after the manifest is applied; `stored` is null if it is new.
json::Value LabelsAfter(const json::Value& manifest, const json::Value& stored);

}  // namespace inspect
