#include "pkg/admission/review.h"

#include <array>
#include <initializer_list>
#include <utility>

#include "pkg/api/object_meta.h"

namespace admission {
namespace {

using base::ErrorCode;
using json::Value;

constexpr std::string_view kApiVersion = "admission.k8s.io/v1";
constexpr std::string_view kKind = "AdmissionReview";
constexpr std::size_t kMaxPrepared = 1024;  // resources of which fields are wanted
constexpr std::size_t kMaxEnvelopeBytes = std::size_t{64} << 10;
constexpr std::size_t kMaxNameBytes = 1024;  // of an object's name, in messages
constexpr std::size_t kMaxTextBytes = 1024;  // of other texts in the envelope

constexpr std::array<std::pair<std::string_view, Operation>, 4> kOperations{{
    {"CREATE", Operation::kCreate},
    {"UPDATE", Operation::kUpdate},
    {"DELETE", Operation::kDelete},
    {"CONNECT", Operation::kConnect},
}};

base::Error Malformed(std::string message) {
  return {.code = ErrorCode::kMalformed, .message = std::move(message)};
}

base::Error NoReview(std::string_view why) {
  return Malformed("not an AdmissionReview: " + std::string(why));
}

// The error about a body that cannot be read.
base::Error Unread(const base::Error& error) {
  if (error.Is(ErrorCode::kTooLarge)) return error.Wrap("the review");
  return NoReview(error.message);
}

base::Error WrongType(std::string_view field, const Value& value, std::string_view expected) {
  std::string message(field);
  message.append(" is of type ").append(value.TypeName()).append(", not ").append(expected);
  return Malformed(std::move(message));
}

const json::Projection& EnvelopeFields() {
  static const json::Projection fields({"apiVersion", "kind", "request.uid", "request.resource",
                                        "request.subResource", "request.operation",
                                        "request.namespace", "request.name", "request.dryRun"});
  return fields;
}

base::Result<void> CheckEnvelope(const Value& review) {
  if (!review.IsObject()) return NoReview("the body is of type " + std::string(review.TypeName()));
  const std::string_view kind = review.StringAt({"kind"});
  if (kind.empty()) return NoReview("it has no kind");
  if (kind != kKind) return NoReview("its kind is " + json::Quote(kind));
  const std::string_view version = review.StringAt({"apiVersion"});
  if (version != kApiVersion) {
    return base::Error{.code = ErrorCode::kInvalidArgument,
                       .message = "an AdmissionReview of version " + json::Quote(version) +
                                  " is not understood, only " + std::string(kApiVersion)};
  }
  const Value* request = review.At({"request"});
  if (request == nullptr || request->IsNull()) return Malformed("the review has no request");
  if (!request->IsObject()) return WrongType("request", *request, "an object");
  return {};
}

std::string FieldName(std::initializer_list<std::string_view> path) {
  std::string field = "request";
  for (const std::string_view name : path) field.append(".").append(name);
  return field;
}

// Takes the string at `path` below the request. An absent one is an error only where `required`.
base::Result<void> TakeText(const Value& request, std::initializer_list<std::string_view> path,
                            bool required, std::string* into) {
  const Value* value = request.At(path);
  if (value != nullptr && !value->IsNull()) {
    if (!value->IsString()) return WrongType(FieldName(path), *value, "a string");
    *into = *value->AsString();
  }
  if (into->size() > kMaxTextBytes) {
    return Malformed(FieldName(path) + " is longer than " + std::to_string(kMaxTextBytes) +
                     " bytes");
  }
  if (required && into->empty()) return Malformed("the review has no " + FieldName(path));
  return {};
}

base::Result<void> TakeOperation(const Value& request, Operation* into) {
  std::string text;
  auto taken = TakeText(request, {"operation"}, true, &text);
  if (!taken) return taken;
  for (const auto& [name, operation] : kOperations) {
    if (name != text) continue;
    *into = operation;
    return {};
  }
  return Malformed("request.operation " + json::Quote(text) +
                   " is none of CREATE, UPDATE, DELETE and CONNECT");
}

// Kinds of aggregated API servers may have longer names. The name is only used in messages, so it
// is cut.
base::Result<void> TakeName(const Value& request, std::string* into) {
  const Value* value = request.At({"name"});
  if (value == nullptr || value->IsNull()) return {};
  if (!value->IsString()) return WrongType("request.name", *value, "a string");
  *into = value->AsString()->substr(0, kMaxNameBytes);
  return {};
}

base::Result<void> TakeDryRun(const Value& request, bool* into) {
  const Value* value = request.At({"dryRun"});
  if (value == nullptr || value->IsNull()) return {};
  if (!value->IsBool()) return WrongType("request.dryRun", *value, "a boolean");
  *into = *value->AsBool();
  return {};
}

base::Result<Review> TakeEnvelope(const Value& envelope) {
  auto good = CheckEnvelope(envelope);
  if (!good) return good.error();
  const Value& request = *envelope.At({"request"});
  Review review;
  good = TakeText(request, {"uid"}, true, &review.uid);
  if (good) good = TakeText(request, {"resource", "resource"}, true, &review.resource.resource);
  if (good) good = TakeText(request, {"resource", "group"}, false, &review.resource.group);
  if (good) good = TakeText(request, {"resource", "version"}, false, &review.resource.version);
  if (good) good = TakeText(request, {"subResource"}, false, &review.subresource);
  if (good) good = TakeOperation(request, &review.operation);
  if (good) good = TakeText(request, {"namespace"}, false, &review.ns);
  if (good) good = TakeName(request, &review.name);
  if (good) good = TakeDryRun(request, &review.dry_run);
  if (!good) return good.error();
  return review;
}

base::Result<void> TakeObject(Value& document, std::string_view name, Value* into) {
  Value& value = document.Make({"request", name});
  if (value.IsNull()) return {};
  if (!value.IsObject()) return WrongType(FieldName({name}), value, "an object");
  *into = std::move(value);
  return {};
}

std::string NameOf(const Review& review) {
  if (!review.name.empty()) return review.name;
  for (const Value* object : {&review.object, &review.old_object}) {
    const std::string_view name = api::Name(*object);
    if (!name.empty()) return std::string(name.substr(0, kMaxNameBytes));
    const std::string_view generated = object->StringAt({"metadata", "generateName"});
    if (!generated.empty()) return std::string(generated.substr(0, kMaxNameBytes));
  }
  return "Unknown";
}

std::optional<Owner> OwnerOf(const Value& object) {
  const Value* owner = api::OwnerReference(object);
  if (owner == nullptr) return std::nullopt;
  const auto text = [owner](std::string_view name) {
    return std::string(owner->StringAt({name}).substr(0, kMaxNameBytes));
  };
  return Owner{text("apiVersion"), text("kind"), text("name"), text("uid")};
}

json::Projection OfReview(const std::vector<std::string>& fields) {
  std::vector<std::string> paths;
  for (const std::string_view object : {"request.object", "request.oldObject"}) {
    const std::string below = std::string(object) + ".";
    for (const std::string_view name :
         {"name", "namespace", "uid", "resourceVersion", "generateName"}) {
      paths.push_back(below + "metadata." + std::string(name));
    }
    for (const std::string& field : fields) {
      paths.push_back(field.empty() ? std::string(object) : below + field);
    }
  }
  for (const char* name : {"apiVersion", "kind", "name", "uid", "controller"}) {
    paths.push_back(std::string("request.object.metadata.ownerReferences.") + name);
  }
  return json::Projection(paths);
}

}  // namespace

base::Result<Review> ReviewParser::Parse(std::string_view body, const FieldsOf& fields_of) {
  // The envelope names the resource, which determines the fields that the second pass reads.
  const auto envelope = json::Skim(body, EnvelopeFields(), {.bytes = kMaxEnvelopeBytes});
  if (!envelope) return Unread(envelope.error());
  auto review = TakeEnvelope(*envelope);
  if (!review) return review;
  const api::GroupResource resource = review->resource.WithoutVersion();
  auto document = json::Skim(body, For(resource, fields_of(resource)), {.bytes = kMaxWantedBytes});
  if (!document) return Unread(document.error());
  auto taken = TakeObject(*document, "object", &review->object);
  if (taken) taken = TakeObject(*document, "oldObject", &review->old_object);
  if (!taken) return taken.error();
  // Only a CREATE or UPDATE is decided, so only these need an object.
  const bool judged =
      review->operation == Operation::kCreate || review->operation == Operation::kUpdate;
  if (judged && review->object.IsNull()) return Malformed("the review has no request.object");
  review->name = NameOf(*review);
  review->owner = OwnerOf(review->object);
  return review;
}

// Remembers nothing for a resource without wanted fields: the request may name any resource.
const json::Projection& ReviewParser::For(const api::GroupResource& resource,
                                          std::vector<std::string> fields) {
  static const json::Projection nothing = OfReview({});
  if (fields.empty()) return nothing;
  const auto found = wanted_.find(resource);
  if (found != wanted_.end() && found->second.fields == fields) return found->second.of_review;
  if (wanted_.size() >= kMaxPrepared) wanted_.clear();  // prepared again on demand
  json::Projection of_review = OfReview(fields);
  const auto made =
      wanted_.insert_or_assign(resource, Wanted{std::move(fields), std::move(of_review)}).first;
  return made->second.of_review;
}

}  // namespace admission
