#include "cmd/sandbox-apiserver/webhook_rules.h"

#include <algorithm>
#include <utility>

#include "pkg/base/base64.h"

namespace sandbox {
namespace {

std::vector<std::string> Strings(const json::Value& value, std::string_view member) {
  std::vector<std::string> texts;
  for (const json::Value& element : value.ArrayAt({member})) {
    if (const std::string* text = element.AsString()) texts.push_back(*text);
  }
  return texts;
}

// An absent selector selects everything.
api::LabelSelector SelectorOf(const json::Value& value, std::string_view member) {
  const json::Value* selector = value.At({member});
  if (selector == nullptr || !selector->IsObject()) return {};
  base::Result<api::LabelSelector> parsed = api::LabelSelector::FromJson(*selector);
  return parsed ? *std::move(parsed) : api::LabelSelector();
}

WebhookRule RuleOf(const json::Value& rule) {
  WebhookRule parsed{Strings(rule, "operations"), Strings(rule, "apiGroups"),
                     Strings(rule, "apiVersions"), Strings(rule, "resources"), "*"};
  if (const std::string_view scope = rule.StringAt({"scope"}); !scope.empty()) parsed.scope = scope;
  return parsed;
}

Webhook WebhookOf(const json::Value& value) {
  Webhook webhook;
  webhook.name = value.StringAt({"name"});
  webhook.url = value.StringAt({"clientConfig", "url"});
  if (webhook.url.empty()) {
    webhook.service = std::string(value.StringAt({"clientConfig", "service", "namespace"})) + "/" +
                      std::string(value.StringAt({"clientConfig", "service", "name"}));
  }
  base::Result<std::string> ca = base::DecodeBase64(value.StringAt({"clientConfig", "caBundle"}));
  if (ca) webhook.ca_pem = *std::move(ca);
  webhook.ignore_failure = value.StringAt({"failurePolicy"}) == "Ignore";
  webhook.any_version = value.StringAt({"matchPolicy"}) != "Exact";
  webhook.has_match_conditions = !value.ArrayAt({"matchConditions"}).empty();
  const std::vector<std::string> versions = Strings(value, "admissionReviewVersions");
  webhook.knows_v1 = std::find(versions.begin(), versions.end(), "v1") != versions.end();
  if (const json::Value* timeout = value.At({"timeoutSeconds"})) {
    webhook.timeout =
        std::chrono::seconds(std::clamp<std::int64_t>(timeout->AsInt64().value_or(10), 1, 30));
  }
  for (const json::Value& rule : value.ArrayAt({"rules"})) {
    webhook.rules.push_back(RuleOf(rule));
  }
  webhook.namespace_selector = SelectorOf(value, "namespaceSelector");
  webhook.object_selector = SelectorOf(value, "objectSelector");
  return webhook;
}

bool Has(const std::vector<std::string>& texts, std::string_view text) {
  return std::any_of(texts.begin(), texts.end(), [text](const std::string& candidate) {
    return candidate == "*" || candidate == text;
  });
}

// "pods" is the resource alone, "pods/status" the subresource, "pods/*" and "*/*" both.
bool NamesResource(const std::vector<std::string>& resources, std::string_view resource,
                   std::string_view subresource) {
  return std::any_of(resources.begin(), resources.end(), [&](std::string_view entry) {
    const std::size_t slash = entry.find('/');
    const std::string_view plural = entry.substr(0, slash);
    const std::string_view sub =
        slash == std::string_view::npos ? std::string_view{} : entry.substr(slash + 1);
    return (plural == "*" || plural == resource) && (sub == "*" || sub == subresource);
  });
}

bool InScope(const std::string& scope, const Admission& admission) {
  // In a review the namespace of a Namespace is its own name, although it is cluster-scoped.
  if (scope == "Cluster") return !admission.type->namespaced;
  if (scope == "Namespaced") return admission.type->namespaced;
  return true;
}

bool RuleMatches(const WebhookRule& rule, const Admission& admission, bool any_version) {
  const ResourceType& type = *admission.type;
  return Has(rule.operations, admission.operation) && Has(rule.groups, type.group) &&
         (any_version || Has(rule.versions, type.version)) &&
         NamesResource(rule.resources, type.resource, admission.subresource) &&
         InScope(rule.scope, admission);
}

bool ObjectSelected(const Webhook& webhook, const json::Value* object) {
  if (object == nullptr) return false;
  return webhook.object_selector.Matches(object->At({"metadata", "labels"}));
}

// Webhooks are never called for webhook configurations, or a broken one could not be repaired.
bool IsExempt(const ResourceType& type) { return type.group == "admissionregistration.k8s.io"; }

json::Object KindOf(const ResourceType& type) {
  return {{"group", type.group}, {"version", type.version}, {"kind", type.kind}};
}

json::Object ResourceOf(const ResourceType& type) {
  return {{"group", type.group}, {"version", type.version}, {"resource", type.resource}};
}

api::Status Denial(const Webhook& webhook, const json::Value& response) {
  std::string explanation(response.StringAt({"status", "message"}));
  if (explanation.empty()) explanation = response.StringAt({"status", "reason"});
  const std::string start =
      "admission webhook " + json::Quote(webhook.name) + " denied the request";
  const json::Value* code = response.At({"status", "code"});
  // As kube-apiserver, keep what the webhook says for programs.
  json::Value told(json::Object{{"kind", "Status"}});
  if (const json::Value* details = response.At({"status", "details"})) {
    told.Make({"details"}) = *details;
  }
  api::Status status = *api::ParseStatus(told);
  status.status = "Failure";
  status.message =
      explanation.empty() ? start + " without explanation" : start + ": " + explanation;
  status.reason = response.StringAt({"status", "reason"});
  status.code = static_cast<int>(code == nullptr ? 400 : code->AsInt64().value_or(400));
  status.code = std::clamp(status.code, 400, 599);
  return status;
}

base::Error Malformed(std::string message) {
  return {.code = base::ErrorCode::kMalformed, .message = std::move(message)};
}

}  // namespace

std::vector<Webhook> WebhooksOf(const json::Value& configuration) {
  std::vector<Webhook> webhooks;
  for (const json::Value& webhook : configuration.ArrayAt({"webhooks"})) {
    webhooks.push_back(WebhookOf(webhook));
  }
  return webhooks;
}

bool Selects(const Webhook& webhook, const Admission& admission,
             const json::Value* namespace_labels) {
  if (IsExempt(*admission.type)) return false;
  const bool rule =
      std::any_of(webhook.rules.begin(), webhook.rules.end(), [&](const WebhookRule& candidate) {
        return RuleMatches(candidate, admission, webhook.any_version);
      });
  if (!rule) return false;
  const bool has_namespace = admission.type->namespaced || admission.type->IsCore("namespaces");
  if (has_namespace && !webhook.namespace_selector.Matches(namespace_labels)) return false;
  return ObjectSelected(webhook, admission.object) || ObjectSelected(webhook, admission.old_object);
}

json::Value MakeReview(const Admission& admission, const std::string& uid) {
  const ResourceType& type = *admission.type;
  json::Object request{{"uid", uid}, {"kind", KindOf(type)}, {"resource", ResourceOf(type)}};
  if (!admission.subresource.empty()) request.Set("subResource", admission.subresource);
  request.Set("requestKind", KindOf(type));
  request.Set("requestResource", ResourceOf(type));
  if (!admission.subresource.empty()) request.Set("requestSubResource", admission.subresource);
  if (!admission.name.empty()) request.Set("name", admission.name);
  if (!admission.ns.empty()) request.Set("namespace", admission.ns);
  request.Set("operation", admission.operation);
  request.Set("userInfo", UserInfo(admission.user));
  request.Set("object", admission.object == nullptr ? json::Value() : *admission.object);
  request.Set("oldObject", admission.old_object == nullptr ? json::Value() : *admission.old_object);
  request.Set("dryRun", admission.dry_run);
  request.Set("options", admission.options);
  return json::Object{{"kind", "AdmissionReview"},
                      {"apiVersion", "admission.k8s.io/v1"},
                      {"request", std::move(request)}};
}

base::Result<Verdict> ReadReview(const Webhook& webhook, std::string_view body,
                                 std::string_view uid) {
  base::Result<json::Value> review = json::Parse(body);
  if (!review) return review.error().Wrap("the answer is no JSON");
  if (review->StringAt({"kind"}) != "AdmissionReview" ||
      review->StringAt({"apiVersion"}) != "admission.k8s.io/v1") {
    return Malformed(
        "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got " +
        std::string(review->StringAt({"apiVersion"})) +
        ", Kind=" + std::string(review->StringAt({"kind"})));
  }
  const json::Value* response = review->At({"response"});
  if (response == nullptr || !response->IsObject()) {
    return Malformed("webhook response was absent");
  }
  if (response->StringAt({"uid"}) != uid) {
    return Malformed("expected response.uid=" + json::Quote(uid) + ", got " +
                     json::Quote(response->StringAt({"uid"})));
  }
  if (response->At({"patch"}) != nullptr || response->At({"patchType"}) != nullptr) {
    return Malformed("webhook response contained a patch, which a validating webhook may not send");
  }
  Verdict verdict;
  const json::Value* allowed = response->At({"allowed"});
  verdict.allowed = allowed != nullptr && allowed->AsBool().value_or(false);
  if (!verdict.allowed) verdict.denial = Denial(webhook, *response);
  verdict.warnings = Strings(*response, "warnings");
  return verdict;
}

}  // namespace sandbox
