// A ValidatingWebhookConfiguration that somebody edited: our patch makes it what we want, and then
// nothing is left to do. Also read as the sandbox calls its webhooks.

#include "cmd/sandbox-apiserver/patch.h"
#include "cmd/sandbox-apiserver/webhook_rules.h"
#include "pkg/webhook/stored_configuration.h"
#include "tests/fuzz/evaluators.h"
#include "tests/fuzz/target.h"

namespace {

webhook::ConfigurationOptions Options() {
  webhook::ConfigurationOptions options;
  options.endpoint = webhook::ServiceReference{};
  return options;
}

json::Value Desired() {
  std::vector<webhook::GuardedResource> guarded;
  for (const quota::QuotaApi& api : fuzz::QuotaApis()) {
    for (const quota::Evaluator& evaluator : api.evaluators) {
      guarded.push_back(webhook::Guarded(api.name, evaluator));
      const bool some = evaluator.resource.resource.starts_with("s");
      if (some) guarded.back().namespaces = {.all_but = false, .names = {"a", "b"}};
      const bool labelled = evaluator.resource.resource.starts_with("p");
      if (labelled) guarded.back().namespaces = {.all_but = false, .label_keys = {"env", "team"}};
    }
  }
  return webhook::DesiredConfiguration(Options(), guarded, "PEM");
}

// Like GuardedBy(), which does not return exempt namespaces.
std::vector<webhook::GuardedResource> WithoutExempt(std::vector<webhook::GuardedResource> guarded) {
  for (webhook::GuardedResource& one : guarded) {
    if (one.namespaces.all_but) one.namespaces.names.clear();
  }
  return guarded;
}

void CheckAnswer(const sandbox::Webhook& webhook, std::string_view input) {
  const auto verdict = sandbox::ReadReview(webhook, input, "u");
  if (!verdict || verdict->allowed) return;
  fuzz::Require(verdict->denial.code >= 400 && verdict->denial.code < 600, "a refusal is one");
}

FUZZ_TARGET(webhook_configuration) {
  static const json::Value desired = Desired();
  const auto live = json::Parse(input);
  if (!live || !live->IsObject()) return;
  (void)webhook::GuardedBy(*live);
  const auto agreed = webhook::GuardedAsDesired(*live, desired, Options().Exempt());
  if (webhook::SameConfiguration(*live, desired)) {
    fuzz::Require(WithoutExempt(agreed) == webhook::GuardedBy(*live),
                  "who says the same guards the same");
    fuzz::Require(!webhook::DiffersInCaBundleOnly(*live, desired), "nothing differs");
  }
  const json::Value repaired =
      sandbox::ApplyMergePatch(*live, webhook::ConfigurationPatch(*live, desired));
  fuzz::Require(webhook::SameConfiguration(repaired, desired), "the patch repairs it");
  for (const sandbox::Webhook& webhook : sandbox::WebhooksOf(*live)) CheckAnswer(webhook, input);
}

}  // namespace
