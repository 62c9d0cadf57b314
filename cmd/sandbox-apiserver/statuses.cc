#include "cmd/sandbox-apiserver/statuses.h"

namespace sandbox {

api::Status NamespaceTerminating(const ResourceType& type, std::string_view name,
                                 std::string_view ns) {
  const std::string quoted(ns);
  api::Status status = api::Forbidden(
      type.group_resource(), name,
      "unable to create new content in namespace " + quoted + " because it is being terminated");
  status.details.causes = {{.reason = "NamespaceTerminating",
                            .message = "namespace " + quoted + " is being terminated",
                            .field = "metadata.namespace"}};
  return status;
}

api::Status AlreadyExistsBeingDeleted(const ResourceType& type, std::string_view name) {
  api::Status status = api::AlreadyExists(type.group_resource(), name);
  status.message = "object is being deleted: " + status.message;
  return status;
}

api::Status Unprocessable() {
  api::Status status;
  status.code = 422;
  status.reason = "Invalid";
  status.message = "the server rejected our request due to an error in our request";
  return status;
}

api::Status TooManyPatchOperations(std::size_t operations, std::size_t limit) {
  return api::RequestEntityTooLarge("The allowed maximum operations in a JSON patch is " +
                                    std::to_string(limit) + ", got " + std::to_string(operations));
}

api::Status TooOldVersion(std::uint64_t wanted, std::uint64_t oldest) {
  return api::Expired("too old resource version: " + std::to_string(wanted) + " (" +
                      std::to_string(oldest) + ")");
}

api::Status TooLargeVersion(std::uint64_t wanted, std::uint64_t current) {
  api::Status status = api::Timeout("Too large resource version: " + std::to_string(wanted) +
                                        ", current: " + std::to_string(current),
                                    1);
  status.details.causes = {
      {.reason = "ResourceVersionTooLarge", .message = "Too large resource version", .field = ""}};
  return status;
}

api::Status InvalidListOptions(std::string_view field, std::string_view message) {
  return api::Invalid(
      "meta.k8s.io", "ListOptions", "",
      {{.reason = message.starts_with("Forbidden") ? "FieldValueForbidden" : "FieldValueInvalid",
        .message = std::string(message),
        .field = std::string(field)}});
}

}  // namespace sandbox
