#include "cmd/sandbox-apiserver/webhook_validation.h"
#include "pkg/base/text.h"

#include <algorithm>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sandbox {
namespace {

using json::Array;
using json::Value;

constexpr std::size_t kMostConditions = 64;
constexpr std::string_view kUrlForm = "; desired format: https://host[/path]";

std::string Element(const std::string& field, std::size_t index) {
  return field + "[" + std::to_string(index) + "]";
}

void CheckOneOf(const Value& holder, const std::string& field, std::string_view member,
                const std::vector<std::string>& supported, FieldErrors& errors) {
  const std::string text(holder.StringAt({member}));
  if (std::ranges::find(supported, text) != supported.end()) return;
  errors.NotSupported(field + "." + std::string(member), text, supported);
}

void CheckName(const std::string& name, const std::string& field, FieldErrors& errors) {
  if (name.empty()) return errors.Required(field);
  const std::vector<std::string> wrong = CheckDns1123Subdomain(name);
  if (!wrong.empty()) return errors.Invalid(field, name, base::Join(wrong, ","));
  if (std::ranges::count(name, '.') < 2) {
    errors.Invalid(field, name,
                   "should be a domain with at least three segments separated by dots");
  }
}

void CheckRule(const Value& rule, const std::string& field, FieldErrors& errors) {
  for (const char* member : {"operations", "apiGroups", "apiVersions", "resources"}) {
    if (rule.ArrayAt({member}).empty()) errors.Required(field + "." + member);
  }
  const Array& operations = rule.ArrayAt({"operations"});
  static const std::vector<std::string> known = {"*", "CONNECT", "CREATE", "DELETE", "UPDATE"};
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const std::string* const text = operations[i].AsString();
    if (text != nullptr && std::ranges::find(known, *text) != known.end()) continue;
    errors.NotSupported(Element(field + ".operations", i), operations[i], known);
  }
  CheckOneOf(rule, field, "scope", {"*", "Cluster", "Namespaced"}, errors);
}

void CheckUrl(const std::string& url, const std::string& field, FieldErrors& errors) {
  const std::size_t colon = std::min(url.find(':'), url.size());
  const std::string scheme = url.substr(0, colon);
  if (scheme != "https") {
    errors.Invalid(field, scheme,
                   std::string("'https' is the only allowed URL scheme").append(kUrlForm));
  }
  const std::string rest = url.substr(std::min(colon + 3, url.size()));
  if (rest.empty() || rest.front() == '/') {
    errors.Invalid(field, "", std::string("host must be specified").append(kUrlForm));
  }
}

void CheckService(const Value& service, const std::string& field, FieldErrors& errors) {
  for (const char* member : {"name", "namespace"}) {
    if (service.StringAt({member}).empty()) errors.Required(field + "." + member);
  }
  const std::string path(service.StringAt({"path"}));
  if (!path.empty() && path.front() != '/') {
    errors.Invalid(field + ".path", path, "must start with a '/'");
  }
}

void CheckClient(const Value& webhook, const std::string& field, FieldErrors& errors) {
  const Value* const url = webhook.At({"clientConfig", "url"});
  const Value* const service = webhook.At({"clientConfig", "service"});
  const bool has_url = url != nullptr && url->IsString();
  const bool has_service = service != nullptr && service->IsObject();
  if (has_url == has_service) {
    errors.Required(field, "exactly one of url or service is required");
  } else if (has_url) {
    CheckUrl(*url->AsString(), field + ".url", errors);
  } else {
    CheckService(*service, field + ".service", errors);
  }
}

void CheckConditions(const Array& conditions, const std::string& field, FieldErrors& errors) {
  if (conditions.size() > kMostConditions) {
    errors.Add({"FieldValueTooMany", field,
                "Too many: " + std::to_string(conditions.size()) + ": must have at most 64 items"});
  }
  std::set<std::string> names;
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    const std::string at = Element(field, i);
    if (conditions[i].StringAt({"expression"}).empty()) errors.Required(at + ".expression");
    const std::string name(conditions[i].StringAt({"name"}));
    if (name.empty()) errors.Required(at + ".name");
    if (name.empty()) continue;
    for (const std::string& wrong : CheckQualifiedName(name)) {
      errors.Invalid(at + ".name", name, wrong);
    }
    if (!names.insert(name).second) errors.Duplicate(at + ".name", name);
  }
}

void CheckVersions(const Value& webhook, const std::string& field, FieldErrors& errors) {
  const Array& versions = webhook.ArrayAt({"admissionReviewVersions"});
  if (versions.empty()) return errors.Required(field, "must specify one of v1, v1beta1");
  const bool known = std::ranges::any_of(versions, [](const Value& version) {
    return version == Value("v1") || version == Value("v1beta1");
  });
  if (!known) {
    errors.Invalid(field, *webhook.At({"admissionReviewVersions"}),
                   "must include at least one of v1, v1beta1");
  }
}

void CheckWebhook(const Value& webhook, const std::string& field, FieldErrors& errors) {
  CheckName(std::string(webhook.StringAt({"name"})), field + ".name", errors);
  const Array& rules = webhook.ArrayAt({"rules"});
  for (std::size_t i = 0; i < rules.size(); ++i) {
    CheckRule(rules[i], Element(field + ".rules", i), errors);
  }
  CheckOneOf(webhook, field, "failurePolicy", {"Fail", "Ignore"}, errors);
  CheckOneOf(webhook, field, "matchPolicy", {"Equivalent", "Exact"}, errors);
  if (webhook.StringAt({"sideEffects"}).empty()) {
    errors.Required(field + ".sideEffects", "must specify one of None, NoneOnDryRun");
  } else {
    CheckOneOf(webhook, field, "sideEffects", {"None", "NoneOnDryRun"}, errors);
  }
  const Value* const timeout = webhook.At({"timeoutSeconds"});
  const std::int64_t seconds = timeout == nullptr ? 10 : timeout->AsInt64().value_or(0);
  if (seconds < 1 || seconds > 30) {
    errors.Invalid(field + ".timeoutSeconds", seconds,
                   "the timeout value must be between 1 and 30 seconds");
  }
  CheckClient(webhook, field + ".clientConfig", errors);
  CheckConditions(webhook.ArrayAt({"matchConditions"}), field + ".matchConditions", errors);
  CheckVersions(webhook, field + ".admissionReviewVersions", errors);
}

}  // namespace

FieldErrors ValidateWebhookConfiguration(const Value& configuration) {
  FieldErrors errors;
  std::set<std::string> names;
  const Array& webhooks = configuration.ArrayAt({"webhooks"});
  for (std::size_t i = 0; i < webhooks.size(); ++i) {
    const std::string at = Element("webhooks", i);
    CheckWebhook(webhooks[i], at, errors);
    const std::string name(webhooks[i].StringAt({"name"}));
    if (!name.empty() && !names.insert(name).second) errors.Duplicate(at + ".name", name);
  }
  return errors;
}

}  // namespace sandbox
