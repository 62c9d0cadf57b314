#include "cmd/sandbox-apiserver/exchange.h"

#include <charconv>

#include "cmd/sandbox-apiserver/protobuf.h"
#include "cmd/sandbox-apiserver/responses.h"
#include "pkg/config/yaml.h"

namespace sandbox {
namespace {

std::optional<std::int64_t> Integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

api::Status InvalidOption(const std::string& kind, const std::string& field,
                          const std::string& value, const std::string& supported) {
  return api::Invalid(
      "meta.k8s.io", kind, "",
      {{.reason = "FieldValueNotSupported",
        .message = "Unsupported value: " + json::Quote(value) + ": supported values: " + supported,
        .field = field}});
}

std::string OptionsKind(Verb verb) {
  if (verb == Verb::kCreate) return "CreateOptions";
  if (verb == Verb::kUpdate) return "UpdateOptions";
  if (verb == Verb::kPatch) return "PatchOptions";
  return "DeleteOptions";
}

Outcome<bool> DryRunOf(const Exchange& exchange) {
  const std::string value = exchange.Parameter("dryRun");
  if (value.empty()) return false;
  if (value == "All") return true;
  return InvalidOption(OptionsKind(exchange.verb), "dryRun", value, "\"All\"");
}

base::Result<json::Value> ParseAs(BodyFormat format, std::string_view text) {
  if (format == BodyFormat::kYaml) return config::ParseYaml(text);
  return format == BodyFormat::kProtobuf ? DecodeProtobuf(text) : json::Parse(text);
}

Outcome<json::Value> ParseBody(const Exchange& exchange, BodyFormat format) {
  base::Result<json::Value> parsed = ParseAs(format, exchange.request.body);
  if (parsed) return *std::move(parsed);
  const base::Error& error = parsed.error();
  // Valid protobuf, but its kind or one of its fields is unknown here.
  if (error.Is(base::ErrorCode::kInvalidArgument)) return StatusOfCode(415, error.message);
  return api::BadRequest("the object provided is unrecognized (must be of type " +
                         exchange.type->kind + "): " + error.message);
}

}  // namespace

bool Exchange::WantsPretty() const {
  if (target.Has("pretty")) return IsTrue(target, "pretty");
  const std::string_view agent = request.headers.Get("User-Agent");
  return agent.starts_with("curl") || agent.starts_with("Wget");
}

Outcome<ListQuery> ListQueryOf(const Exchange& exchange) {
  ListQuery query;
  query.ns = exchange.path.ns;
  query.label_selector = exchange.Parameter("labelSelector");
  query.field_selector = exchange.Parameter("fieldSelector");
  query.continue_token = exchange.Parameter("continue");
  query.resource_version = exchange.Parameter("resourceVersion");
  query.resource_version_match = exchange.Parameter("resourceVersionMatch");
  if (exchange.target.Has("sendInitialEvents")) {
    return api::Invalid("meta.k8s.io", "ListOptions", "",
                        {{.reason = "FieldValueForbidden",
                          .message = "Forbidden: sendInitialEvents is forbidden for list",
                          .field = "sendInitialEvents"}});
  }
  const std::string limit = exchange.Parameter("limit");
  if (limit.empty()) return query;
  const std::optional<std::int64_t> number = Integer(limit);
  if (!number || *number < 0) {
    return api::BadRequest("limit: " + json::Quote(limit) + " is not a number of objects");
  }
  query.limit = *number;
  return query;
}

Outcome<WriteOptions> WriteOptionsOf(const Exchange& exchange) {
  WriteOptions options;
  Outcome<bool> dry_run = DryRunOf(exchange);
  if (!dry_run) return dry_run.error();
  options.dry_run = *dry_run;
  options.field_manager = exchange.Parameter("fieldManager");
  const std::string validation = exchange.Parameter("fieldValidation");
  if (validation == "Ignore") options.field_validation = FieldValidation::kIgnore;
  if (validation == "Strict") options.field_validation = FieldValidation::kStrict;
  if (!validation.empty() && validation != "Warn" && validation != "Ignore" &&
      validation != "Strict") {
    return InvalidOption(OptionsKind(exchange.verb), "fieldValidation", validation,
                         "\"Ignore\", \"Strict\", \"Warn\"");
  }
  return options;
}

Outcome<DeleteOptions> DeleteOptionsOf(const Exchange& exchange) {
  json::Value body;
  if (!exchange.request.body.empty()) {
    Outcome<json::Value> parsed = BodyOf(exchange);
    if (!parsed) return parsed.error();
    body = *std::move(parsed);
  }
  Outcome<DeleteOptions> options = DeleteOptions::FromJson(body);
  if (!options) return options.error();
  Outcome<bool> dry_run = DryRunOf(exchange);
  if (!dry_run) return dry_run.error();
  options->dry_run = options->dry_run || *dry_run;
  const std::string grace = exchange.Parameter("gracePeriodSeconds");
  if (!options->grace_period_seconds && !grace.empty()) {
    options->grace_period_seconds = Integer(grace);
    if (!options->grace_period_seconds) {
      return api::BadRequest("gracePeriodSeconds: " + json::Quote(grace) + " is not a number");
    }
  }
  if (options->propagation_policy.empty()) {
    options->propagation_policy = exchange.Parameter("propagationPolicy");
  }
  return options;
}

Outcome<json::Value> BodyOf(const Exchange& exchange) {
  const std::optional<BodyFormat> format =
      BodyFormatOf(exchange.request.headers.Get("Content-Type"));
  if (!format) return api::UnsupportedMediaType({"application/json", "application/yaml"});
  Outcome<json::Value> body = ParseBody(exchange, *format);
  if (body && !body->IsObject()) {
    return api::BadRequest("the object provided is unrecognized (must be of type " +
                           exchange.type->kind + "): it is of type " +
                           std::string(body->TypeName()));
  }
  return body;
}

Outcome<PatchRequest> PatchOf(const Exchange& exchange) {
  const std::string media = MediaType(exchange.request.headers.Get("Content-Type"));
  const std::optional<PatchType> type = PatchTypeOf(media);
  if (!type || (*type == PatchType::kStrategic && exchange.type->custom)) {
    std::vector<std::string> accepted{"application/json-patch+json", "application/merge-patch+json",
                                      "application/apply-patch+yaml"};
    if (!exchange.type->custom) accepted.emplace_back("application/strategic-merge-patch+json");
    return api::UnsupportedMediaType(accepted);
  }
  const bool yaml = *type == PatchType::kApply;
  Outcome<json::Value> body = ParseBody(exchange, yaml ? BodyFormat::kYaml : BodyFormat::kJson);
  if (!body) return body.error();
  return PatchRequest{*type, *std::move(body), IsTrue(exchange.target, "force")};
}

Outcome<IncludeObject> IncludeObjectOf(const Exchange& exchange) {
  const std::string value = exchange.Parameter("includeObject");
  if (value.empty() || value == "Metadata") return IncludeObject::kMetadata;
  if (value == "None") return IncludeObject::kNone;
  if (value == "Object") return IncludeObject::kObject;
  return api::BadRequest("unrecognized includeObject value: " + json::Quote(value));
}

}  // namespace sandbox
