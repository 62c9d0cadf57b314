#pragma once

// Errors by field, as API validation collects them, and the rules of metadata. No I/O; any thread.

#include <string>
#include <string_view>
#include <vector>

#include "cmd/sandbox-apiserver/outcome.h"
#include "cmd/sandbox-apiserver/registry.h"
#include "pkg/json/value.h"

namespace sandbox {

class FieldErrors {
 public:
  void Invalid(std::string field, const json::Value& value, std::string_view detail);
  void Required(std::string field, std::string_view detail = {});
  void Forbidden(std::string field, std::string_view detail);
  void NotSupported(std::string field, const json::Value& value,
                    const std::vector<std::string>& supported);
  void Append(const FieldErrors& other);
  [[nodiscard]] bool empty() const { return errors_.empty(); }
  // 422: `Kind.group "name" is invalid: …`; the message names equal errors once, the causes keep
  // all.
  [[nodiscard]] api::Status ToStatus(const ResourceType& type, std::string_view name) const;
  // 422 if there is an error; `kind` of options of a request, such as ListOptions.
  [[nodiscard]] Outcome<void> OfOptions(std::string_view kind) const;

 private:
  std::vector<api::StatusCause> errors_;
};

// Name, namespace, labels, annotations and owner references of any object.
FieldErrors ValidateMeta(const ResourceType& type, const json::Value& object);
// Errors of an update: metadata that must not change.
FieldErrors ValidateMetaUpdate(const json::Value& object, const json::Value& old);

}  // namespace sandbox
