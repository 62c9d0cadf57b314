#include "cmd/sandbox-apiserver/exchange.h"

#include <algorithm>
#include <charconv>

#include "cmd/sandbox-apiserver/protobuf.h"
#include "cmd/sandbox-apiserver/responses.h"
#include "cmd/sandbox-apiserver/validation.h"
#include "pkg/config/yaml.h"

namespace sandbox {
namespace {

std::optional<std::int64_t> Integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Notes an error if the parameter has another value than these; "" means that it is absent.
void CheckParameter(const Exchange& exchange, std::string_view name,
                    const std::vector<std::string>& supported, FieldErrors& errors) {
  const std::string value = exchange.Parameter(name);
  if (value.empty() || std::ranges::find(supported, value) != supported.end()) return;
  errors.NotSupported(std::string(name), value, supported);
}

using Parser = base::Result<json::Value> (*)(std::string_view text);
base::Result<json::Value> ParseJson(std::string_view text) { return json::Parse(text); }
base::Result<json::Value> ParseYaml(std::string_view text) { return config::ParseYaml(text); }

Outcome<json::Value> ParseBody(const Exchange& exchange, Parser parse) {
  base::Result<json::Value> parsed = parse(exchange.request.body);
  if (parsed) return *std::move(parsed);
  const base::Error& error = parsed.error();
  // Valid protobuf, but its kind or one of its fields is unknown here.
  if (error.Is(base::ErrorCode::kInvalidArgument)) return StatusOfCode(415, error.message);
  return api::BadRequest("the object provided is unrecognized (must be of type " +
                         exchange.type->kind + "): " + error.message);
}

}  // namespace

Outcome<ListQuery> ListQueryOf(const Exchange& exchange) {
  ListQuery query;
  query.ns = exchange.path.ns;
  query.label_selector = exchange.Parameter("labelSelector");
  query.field_selector = exchange.Parameter("fieldSelector");
  query.continue_token = exchange.Parameter("continue");
  query.resource_version = exchange.Parameter("resourceVersion");
  query.resource_version_match = exchange.Parameter("resourceVersionMatch");
  query.has_send_initial_events = exchange.target.Has("sendInitialEvents");
  const std::string limit = exchange.Parameter("limit");
  if (limit.empty()) return query;
  const std::optional<std::int64_t> number = Integer(limit);
  if (!number || *number < 0) {
    return api::BadRequest("limit: " + json::Quote(limit) + " is not a number of objects");
  }
  query.limit = *number;
  return query;
}

std::string_view OptionsKind(Verb verb) {
  switch (verb) {
    case Verb::kCreate:
      return "CreateOptions";
    case Verb::kUpdate:
      return "UpdateOptions";
    case Verb::kPatch:
      return "PatchOptions";
    default:
      return "DeleteOptions";
  }
}

Outcome<WriteOptions> WriteOptionsOf(const Exchange& exchange) {
  FieldErrors errors;
  CheckParameter(exchange, "dryRun", {"All"}, errors);
  CheckParameter(exchange, "fieldValidation", {"", "Ignore", "Strict", "Warn"}, errors);
  if (const auto checked = errors.OfOptions(OptionsKind(exchange.verb)); !checked) {
    return checked.error();
  }
  WriteOptions options;
  options.dry_run = !exchange.Parameter("dryRun").empty();
  options.field_manager = exchange.Parameter("fieldManager");
  const std::string_view validation = exchange.target.Get("fieldValidation");
  if (validation == "Ignore") options.field_validation = FieldValidation::kIgnore;
  if (validation == "Strict") options.field_validation = FieldValidation::kStrict;
  return options;
}

Outcome<DeleteOptions> DeleteOptionsOf(const Exchange& exchange) {
  json::Value body;
  if (!exchange.request.body.empty()) {
    Outcome<json::Value> parsed = BodyOf(exchange);
    if (!parsed) return parsed.error();
    body = *std::move(parsed);
  }
  const bool orphans = body.StringAt({"propagationPolicy"}) == "Orphan" ||
                       exchange.target.Get("propagationPolicy") == "Orphan";
  if (orphans) return api::BadRequest("dependents cannot be orphaned here");
  Outcome<DeleteOptions> options = DeleteOptions::FromJson(body);
  if (!options) return options.error();
  FieldErrors errors;
  CheckParameter(exchange, "dryRun", {"All"}, errors);
  CheckParameter(exchange, "propagationPolicy", {"Background", "Foreground"}, errors);
  if (const auto checked = errors.OfOptions("DeleteOptions"); !checked) return checked.error();
  options->dry_run = options->dry_run || !exchange.Parameter("dryRun").empty();
  const std::string grace = exchange.Parameter("gracePeriodSeconds");
  if (!options->grace_period_seconds && !grace.empty()) {
    options->grace_period_seconds = Integer(grace);
    if (!options->grace_period_seconds) {
      return api::BadRequest("gracePeriodSeconds: " + json::Quote(grace) + " is not a number");
    }
  }
  return options;
}

Outcome<json::Value> BodyOf(const Exchange& exchange) {
  const std::string media = MediaType(exchange.request.headers.Get("Content-Type"));
  const bool protobuf = media == "application/vnd.kubernetes.protobuf";
  if (!media.empty() && media != "application/json" && !protobuf) {
    return api::UnsupportedMediaType({"application/json"});
  }
  Outcome<json::Value> body = ParseBody(exchange, protobuf ? DecodeProtobuf : ParseJson);
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
  Outcome<json::Value> body =
      ParseBody(exchange, *type == PatchType::kApply ? ParseYaml : ParseJson);
  if (!body) return body.error();
  return PatchRequest{*type, *std::move(body)};
}

}  // namespace sandbox
