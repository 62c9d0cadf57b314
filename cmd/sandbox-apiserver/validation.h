#pragma once

// Errors by field, as API validation collects them, and the syntax rules of names.
// Texts are those of Kubernetes. No I/O; any thread.

#include <string>
#include <string_view>
#include <vector>

#include "cmd/sandbox-apiserver/outcome.h"
#include "cmd/sandbox-apiserver/registry.h"
#include "pkg/json/value.h"

namespace sandbox {

struct FieldError {
  std::string reason;   // of the cause: FieldValueInvalid …
  std::string field;    // "spec.hard[pods]"
  std::string message;  // `Invalid value: "-1": must be …`
  [[nodiscard]] std::string ToString() const { return field + ": " + message; }
};

class FieldErrors {
 public:
  // `value` is printed as Go prints it in such messages: strings quoted, the rest as JSON.
  void Invalid(std::string field, const json::Value& value, std::string_view detail);
  void Required(std::string field, std::string_view detail = {});
  void Forbidden(std::string field, std::string_view detail);
  void Duplicate(std::string field, const json::Value& value);
  void NotSupported(std::string field, const json::Value& value,
                    const std::vector<std::string>& supported);
  void TypeInvalid(std::string field, const json::Value& value, std::string_view detail);
  void Add(FieldError error) { errors_.push_back(std::move(error)); }
  void Append(const FieldErrors& other);
  [[nodiscard]] bool empty() const { return errors_.empty(); }
  [[nodiscard]] const std::vector<FieldError>& errors() const { return errors_; }
  // 422: `Kind.group "name" is invalid: …`; the message names equal errors once, the causes keep
  // all.
  [[nodiscard]] api::Status ToStatus(const ResourceType& type, std::string_view name) const;

 private:
  std::vector<FieldError> errors_;
};

// Returns the errors of the text; an empty list if it is valid.
std::vector<std::string> CheckDns1123Label(std::string_view text);
std::vector<std::string> CheckDns1123Subdomain(std::string_view text);
std::vector<std::string> CheckDns1035Label(std::string_view text);
std::vector<std::string> CheckQualifiedName(std::string_view text);
std::vector<std::string> CheckLabelValue(std::string_view text);

// Names, labels, annotations, finalizers, owner references of any object.
FieldErrors ValidateMeta(const ResourceType& type, const json::Value& object);
// Errors of an update: metadata that must not change.
FieldErrors ValidateMetaUpdate(const json::Value& object, const json::Value& old);

}  // namespace sandbox
