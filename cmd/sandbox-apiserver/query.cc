#include "cmd/sandbox-apiserver/query.h"

#include <algorithm>
#include <charconv>

#include "cmd/sandbox-apiserver/validation.h"
#include "pkg/api/object_meta.h"
#include "pkg/base/base64.h"

namespace sandbox {
namespace {

constexpr const char* kMatch = "resourceVersionMatch";

struct FieldRow {
  std::string_view group;
  std::string_view resource;
  std::vector<std::string_view> fields;  // a path that ends in a dot means all fields below it
};

const std::vector<FieldRow>& FieldRows() {
  static const auto* const rows = new std::vector<FieldRow>{
      {"", "pods", {"spec.nodeName", "status.phase"}},
      {"", "events", {"involvedObject.", "reason", "type", "reportingComponent"}},
      {"events.k8s.io", "events", {"regarding.", "reason", "type", "reportingController"}},
      {"", "namespaces", {"status.phase"}},
      {"", "secrets", {"type"}},
  };
  return *rows;
}

}  // namespace

// As ValidateListOptions of apimachinery v0.36.3, pkg/apis/meta/internalversion/validation.
Outcome<void> CheckQuery(const ListQuery& query) {
  FieldErrors errors;
  const std::string& match = query.resource_version_match;
  if (!match.empty()) {
    if (query.resource_version.empty()) {
      errors.Forbidden(kMatch,
                       "resourceVersionMatch is forbidden unless resourceVersion is provided");
    }
    if (!query.continue_token.empty()) {
      errors.Forbidden(kMatch, "resourceVersionMatch is forbidden when continue is provided");
    }
    if (match != "Exact" && match != "NotOlderThan") {
      errors.NotSupported(kMatch, match, {"Exact", "NotOlderThan", ""});
    }
    if (match == "Exact" && query.resource_version == "0") {
      errors.Forbidden(kMatch,
                       R"(resourceVersionMatch "exact" is forbidden for resourceVersion "0")");
    }
  }
  if (query.has_send_initial_events) {
    errors.Forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list");
  }
  if (!errors.empty()) return errors.OfOptions("ListOptions");
  const bool versioned = !query.resource_version.empty() && query.resource_version != "0";
  if (!versioned || query.continue_token.empty()) return {};
  return api::BadRequest("specifying resource version is not allowed when using continue");
}

Outcome<void> CheckQuery(const WatchQuery& query) {
  FieldErrors errors;
  const std::string& match = query.resource_version_match;
  if (query.send_initial_events && match != "NotOlderThan") {
    errors.Forbidden(kMatch,
                     "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  }
  if (!match.empty() && !query.send_initial_events) {
    errors.Forbidden(
        kMatch, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
  }
  if (!match.empty() && match != "NotOlderThan") {
    errors.NotSupported(kMatch, match, {"NotOlderThan"});
  }
  return errors.OfOptions("ListOptions");
}

bool SupportsField(const ResourceType& type, std::string_view field) {
  if (field == "metadata.name" || field == "metadata.namespace") return true;
  const auto selectable =
      std::find_if(type.selectable_fields.begin(), type.selectable_fields.end(),
                   [&](const std::string& path) { return path.substr(1) == field; });
  if (selectable != type.selectable_fields.end()) return true;
  for (const FieldRow& row : FieldRows()) {
    if (row.group != type.group || row.resource != type.resource) continue;
    return std::any_of(row.fields.begin(), row.fields.end(), [&](std::string_view known) {
      return known.back() == '.' ? field.starts_with(known) : field == known;
    });
  }
  return false;
}

std::string FieldText(const json::Value& object, std::string_view field) {
  const json::Value* at = &object;
  std::string_view rest = field;
  while (at != nullptr && !rest.empty()) {
    const std::size_t dot = rest.find('.');
    at = at->At({rest.substr(0, dot)});
    rest = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
  }
  if (at == nullptr || at->IsNull()) return "";
  return at->IsString() ? *at->AsString() : json::Write(*at);
}

Outcome<Selection> Selection::Make(const ResourceType& type, std::string_view ns,
                                   std::string_view label_selector,
                                   std::string_view field_selector) {
  Selection selection;
  selection.ns_ = ns;
  auto labels = api::LabelSelector::Parse(label_selector);
  if (!labels) return api::BadRequest(labels.error().message);
  auto fields = api::FieldSelector::Parse(field_selector);
  if (!fields) return api::BadRequest(fields.error().message);
  for (const api::FieldRequirement& requirement : fields->requirements()) {
    if (SupportsField(type, requirement.field)) continue;
    return api::BadRequest("field label not supported: " + requirement.field);
  }
  selection.labels_ = std::move(*labels);
  selection.fields_ = std::move(*fields);
  selection.has_selectors_ = !selection.labels_.empty() || !selection.fields_.empty();
  return selection;
}

bool Selection::Matches(const json::Value& object) const {
  if (!ns_.empty() && api::Namespace(object) != ns_) return false;
  if (!has_selectors_) return true;
  if (!labels_.Matches(api::Labels(object))) return false;
  return fields_.Matches([&](std::string_view field) { return FieldText(object, field); });
}

std::string EncodeToken(const ContinueToken& token) {
  const json::Value plain = json::Object{
      {"v", "meta.k8s.io/v1"}, {"rv", token.resource_version}, {"start", token.start_key}};
  std::string text = base::EncodeBase64(json::Write(plain));
  while (!text.empty() && text.back() == '=') text.pop_back();
  for (char& c : text) c = c == '+' ? '-' : (c == '/' ? '_' : c);
  return text;
}

Outcome<ContinueToken> DecodeToken(std::string_view text) {
  std::string padded(text);
  for (char& c : padded) c = c == '-' ? '+' : (c == '_' ? '/' : c);
  while (padded.size() % 4 != 0) padded += '=';
  const auto plain = base::DecodeBase64(padded);
  const auto parsed = plain ? json::Parse(*plain) : base::Result<json::Value>(json::Value());
  const json::Value token = parsed ? *parsed : json::Value();
  const json::Value* const version = token.At({"rv"});
  const std::int64_t number = version != nullptr ? version->AsInt64().value_or(-1) : -1;
  const std::string_view start = token.StringAt({"start"});
  if (token.StringAt({"v"}) != "meta.k8s.io/v1" || number < 0 || start.empty()) {
    return api::BadRequest("invalid continue token: continue key is not valid");
  }
  return ContinueToken{static_cast<std::uint64_t>(number), std::string(start)};
}

Outcome<std::optional<std::uint64_t>> ParseVersion(std::string_view text) {
  if (text.empty()) return std::optional<std::uint64_t>();
  std::uint64_t version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (error != std::errc() || end != text.data() + text.size()) {
    return api::BadRequest(
        "invalid resource version: resourceVersion: Invalid value: " + json::Quote(text) +
        ": strconv.ParseUint: parsing " + json::Quote(text) + ": invalid syntax");
  }
  return std::optional<std::uint64_t>(version);
}

}  // namespace sandbox
