#pragma once

// Validating webhooks as values: which are to be called for a write, what is sent, and what an
// answer means (apiserver v0.36.3, pkg/admission/plugin/webhook). The calls themselves are made by
// WebhookCaller.
//
// matchConditions are CEL and are not evaluated: such a webhook is called as if it had none, and
// the caller logs it. Pure; any thread.

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/sandbox-apiserver/auth.h"
#include "cmd/sandbox-apiserver/outcome.h"
#include "cmd/sandbox-apiserver/registry.h"
#include "pkg/api/selector.h"
#include "pkg/base/error.h"
#include "pkg/json/value.h"

namespace sandbox {

struct WebhookRule {
  std::vector<std::string> operations;
  std::vector<std::string> groups;
  std::vector<std::string> versions;
  std::vector<std::string> resources;
  std::string scope = "*";  // "Cluster", "Namespaced", "*"
};

struct Webhook {
  std::string name;
  std::string url;      // "" if a service is named
  std::string service;  // "namespace/name", for messages: the sandbox has no service network
  std::string ca_pem;
  bool ignore_failure = false;
  bool any_version = true;  // matchPolicy Equivalent
  bool has_match_conditions = false;
  bool knows_v1 = true;  // admissionReviewVersions has "v1"
  std::chrono::seconds timeout{10};
  std::vector<WebhookRule> rules;
  api::LabelSelector namespace_selector;
  api::LabelSelector object_selector;
};

// The webhooks of a ValidatingWebhookConfiguration, in its order. Malformed parts are omitted; a
// real server would not have stored them.
std::vector<Webhook> WebhooksOf(const json::Value& configuration);

// A write as admission sees it.
struct Admission {
  std::string operation;  // "CREATE", "UPDATE", "DELETE"
  TypePtr type;
  std::string subresource;
  std::string ns;
  std::string name;                         // "" for a delete by deletecollection
  const json::Value* object = nullptr;      // nullptr for a delete
  const json::Value* old_object = nullptr;  // nullptr for a create
  json::Value options;                      // CreateOptions, …
  bool dry_run = false;
  User user;
};

// `namespace_labels` are those of the Namespace object; of a Namespace, its own.
bool Selects(const Webhook& webhook, const Admission& admission,
             const json::Value* namespace_labels);

// The AdmissionReview to send.
json::Value MakeReview(const Admission& admission, const std::string& uid);

struct Verdict {
  bool allowed = false;
  api::Status denial;  // if not allowed
  std::vector<std::string> warnings;
};

// Errors: an answer that is no AdmissionReview for this uid: a failed call.
base::Result<Verdict> ReadReview(const Webhook& webhook, std::string_view body,
                                 std::string_view uid);

}  // namespace sandbox
