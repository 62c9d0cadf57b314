#include "cmd/quota-controller-manager/admission_flags.h"

#include <gflags/gflags.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "cmd/command_line/command_line.h"
#include "cmd/quota-controller-manager/flag_values.h"
#include "pkg/api/names.h"
#include "pkg/api/selector.h"
#include "pkg/base/duration.h"
#include "pkg/base/text.h"
#include "pkg/client/files.h"
#include "pkg/http/certificate.h"
#include "pkg/webhook/webhook_configuration.h"

DECLARE_string(quota_apis);

DEFINE_string(
    enforce, "defined,cluster,karmada",
    "Quota APIs that this daemon enforces at admission, separated by commas. Empty: none. "
    "defined: of ResourceQuotas only the limits on names of UsageDefinitions, beside the API "
    "server's own plugin. "
    "Name core or ironcore only if that API server's own plugin is off "
    "(--disable-admission-plugins=ResourceQuota).");
DEFINE_string(admission_bind_address, ":9443",
              "Address to answer admission reviews at, over TLS. Empty: no admission.");
DEFINE_string(admission_service, "",
              "The Service by which the API server reaches the webhook: NAMESPACE/NAME:PORT.");
DEFINE_string(
    admission_url, "",
    "The URL by which the API server reaches the webhook in a local run: https://127.0.0.1:9443.");
DEFINE_string(admission_cert_dir, "",
              "Folder with tls.crt, tls.key and ca.crt, reread when they change. Empty: "
              "certificates are made and rotated.");
DEFINE_string(admission_client_ca, "",
              "CA file (PEM), reread when it changes: callers of the webhook must show a "
              "certificate signed by it. Empty: clients need no certificate.");
DEFINE_string(admission_failure_policy, "Fail",
              "What the API server does when the webhook cannot be reached: Fail or Ignore.");
DEFINE_string(admission_timeout, "10s",
              "How long the API server waits for an answer: whole seconds from 1s to 30s.");
// Usual namespaces of the control plane, the network, DNS, storage, certificates, GitOps, and of
// policies whose own webhook a cluster needs. The chart's _helpers.tpl repeats them.
DEFINE_string(
    exempt_namespaces,
    "kube-system,kube-public,kube-node-lease,calico-apiserver,calico-system,tigera-operator,cilium,"
    "kube-flannel,metallb-system,coredns,external-dns,local-path-storage,longhorn-system,openebs,"
    "rook-ceph,cert-manager,argocd,flux-system,gatekeeper-system,kyverno,cattle-system,"
    "gke-managed-system",
    "Namespaces in which nothing is refused, separated by commas, in addition to the daemon's "
    "own. What the cluster needs to start must not depend on this daemon.");
DEFINE_string(
    exempt_namespace_selector, "",
    "A label selector with one requirement, such as tier=system or 'tier in (system,infra)': "
    "nothing is refused in namespaces with such labels either.");
DEFINE_int32(
    admission_queue_limit, 4096,
    "How many requests may wait for a decision; each namespace may have a "
    "quarter of them, but at most 1024. Further ones are answered 429 at once, so that clients "
    "retry.");
DEFINE_bool(manage_webhook, true,
            "Manage the ValidatingWebhookConfiguration. False: the admin manages it.");
DEFINE_bool(warn_near_limits, true,
            "Warn the user when an admitted request leaves less than a tenth of a limit.");
DEFINE_bool(
    charge_in_advance, true,
    "Charge bursts of creations in advance while usage is far from any limit, so that few of "
    "them wait for a write. Unused charges are released within three seconds.");

namespace manager {
namespace {

using command_line::BadFlag;

// Parts of ResourceQuotas, which are counted with them.
constexpr const char* kDefined = "defined";

// Sets how the API server reaches us. Not needed if the admin manages the webhook configuration.
base::Result<void> ParseEndpoint(Options& options) {
  if (!FLAGS_admission_service.empty() && !FLAGS_admission_url.empty()) {
    return BadFlag("admission_url", "cannot be combined with --admission-service");
  }
  if (!FLAGS_admission_service.empty()) {
    auto service = webhook::ParseServiceReference(FLAGS_admission_service);
    if (!service) return BadFlag("admission_service", service.error().message);
    options.admission_service = std::move(*service);
  }
  if (!FLAGS_admission_url.empty()) {
    auto url = webhook::ParseAdmissionUrl(FLAGS_admission_url);
    if (!url) return BadFlag("admission_url", url.error().message);
    options.admission_url = std::move(*url);
  }
  const bool reachable = options.admission_service || options.admission_url;
  if (options.enforced.empty() || reachable) return {};
  // The API server cannot reach the webhook. The default then enforces nothing, so that the daemon
  // starts without admission flags. An explicit --enforce is an error.
  if (options.manage_webhook && gflags::GetCommandLineFlagInfoOrDie("enforce").is_default) {
    options.unreachable = std::exchange(options.enforced, {});
    options.admission.reset();
    return {};
  }
  if (options.manage_webhook) {
    return BadFlag("enforce",
                   "needs --admission-service or --admission-url, by which the API "
                   "server reaches the webhook (or --manage-webhook=false)");
  }
  if (options.admission_cert_dir.empty()) {
    return BadFlag("manage_webhook",
                   "is false, so --admission-cert-dir is needed, or "
                   "--admission-service or --admission-url to make a "
                   "certificate for");
  }
  return {};
}

// Checks that the file has certificates. It is read again where it is used, and their dates are
// checked there.
base::Result<std::string> ParseClientCa(const std::string& path) {
  if (path.empty()) return std::string();
  const auto pem = client::ReadFile(path);
  if (!pem) return BadFlag("admission_client_ca", pem.error().message);
  const auto read = http::ReadCertificates(*pem, path);
  if (!read) return BadFlag("admission_client_ca", read.error().message);
  return path;
}

base::Result<std::chrono::seconds> ParseAdmissionTimeout() {
  const auto timeout = base::ParseDuration(FLAGS_admission_timeout);
  if (!timeout) return BadFlag("admission_timeout", timeout.error().message);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(*timeout);
  if (seconds != *timeout || seconds.count() < 1 || seconds.count() > 30) {
    return BadFlag("admission_timeout",
                   "must be whole seconds, from 1s to 30s: " + FLAGS_admission_timeout);
  }
  return seconds;
}

base::Result<std::vector<std::string>> ParseExemptNamespaces() {
  std::vector<std::string> namespaces;
  std::istringstream list(FLAGS_exempt_namespaces);
  for (std::string name; std::getline(list, name, ',');) {
    if (!api::IsDns1123Label(name)) {
      return BadFlag("exempt_namespaces", "\"" + name + "\" is not a valid namespace name");
    }
    namespaces.push_back(std::move(name));
  }
  return namespaces;
}

// Rules say of each namespace that it is not exempt, and a selector can negate one requirement
// only.
base::Result<std::optional<api::LabelRequirement>> ParseExemptSelector() {
  using Exempt = std::optional<api::LabelRequirement>;
  if (FLAGS_exempt_namespace_selector.empty()) return Exempt();
  const char* const flag = "exempt_namespace_selector";
  const auto selector = api::LabelSelector::Parse(FLAGS_exempt_namespace_selector);
  if (!selector) return BadFlag(flag, selector.error().message);
  if (selector->requirements().size() != 1) {
    return BadFlag(flag, "must have one requirement: \"" + FLAGS_exempt_namespace_selector + "\"");
  }
  const api::LabelRequirement& one = selector->requirements().front();
  if (one.key == api::kNamespaceLabel) {
    return BadFlag(flag, "names namespaces; --exempt-namespaces does that");
  }
  if (!webhook::Negation(one)) {
    return BadFlag(flag, "must use =, !=, in, notin, a key, or ! and a key: \"" +
                             FLAGS_exempt_namespace_selector + "\"");
  }
  return Exempt(one);
}

// A quota API that is not counted cannot be enforced, and none without an address. The default is
// then reduced. An explicit --enforce is an error: who sets it relies on it.
base::Result<std::vector<std::string>> ParseEnforced(const std::vector<std::string>& counted,
                                                     bool answers) {
  auto enforced = ParseQuotaApis(FLAGS_enforce, {kDefined});
  if (!enforced) return BadFlag("enforce", enforced.error().message);
  const auto not_counted = [&](const std::string& name) {
    return !base::IsOneOf(name == kDefined ? "core" : name, counted);
  };
  if (gflags::GetCommandLineFlagInfoOrDie("enforce").is_default) {
    if (!answers) enforced->clear();
    std::erase_if(*enforced, not_counted);
    return enforced;
  }
  if (!enforced->empty() && !answers) {
    return BadFlag("enforce",
                   "needs an address to answer at, but --admission-bind-address is empty");
  }
  const auto missing = std::ranges::find_if(*enforced, not_counted);
  if (missing == enforced->end()) return enforced;
  return BadFlag("enforce", "names \"" + *missing +
                                "\", which --quota-apis does not count: " + FLAGS_quota_apis);
}

}  // namespace

base::Result<void> ParseAdmission(Options& options) {
  auto address = ParseAddress(FLAGS_admission_bind_address);
  if (!address) return BadFlag("admission_bind_address", address.error().message);
  const auto enforced = ParseEnforced(options.quota_apis, address->has_value());
  if (!enforced) return enforced.error();
  options.enforced = *enforced;
  if (!options.enforced.empty()) options.admission = std::move(*address);
  if (FLAGS_admission_failure_policy != "Fail" && FLAGS_admission_failure_policy != "Ignore") {
    return BadFlag("admission_failure_policy",
                   "must be Fail or Ignore: \"" + FLAGS_admission_failure_policy + "\"");
  }
  options.admission_failure_policy = FLAGS_admission_failure_policy;
  const auto timeout = ParseAdmissionTimeout();
  if (!timeout) return timeout.error();
  options.admission_timeout = *timeout;
  auto exempt = ParseExemptNamespaces();
  if (!exempt) return exempt.error();
  options.exempt_namespaces = std::move(*exempt);
  auto exempt_labels = ParseExemptSelector();
  if (!exempt_labels) return exempt_labels.error();
  options.exempt_labels = std::move(*exempt_labels);
  options.exempt_selector = FLAGS_exempt_namespace_selector;
  options.admission_cert_dir = FLAGS_admission_cert_dir;
  const auto client_ca = ParseClientCa(FLAGS_admission_client_ca);
  if (!client_ca) return client_ca.error();
  options.admission_client_ca = *client_ca;
  if (FLAGS_admission_queue_limit <= 0) {
    return BadFlag("admission_queue_limit",
                   "must be more than 0: " + std::to_string(FLAGS_admission_queue_limit));
  }
  options.admission_queue_limit = static_cast<std::size_t>(FLAGS_admission_queue_limit);
  options.manage_webhook = FLAGS_manage_webhook;
  options.warn_near_limits = FLAGS_warn_near_limits;
  options.charge_in_advance = FLAGS_charge_in_advance;
  return ParseEndpoint(options);
}

}  // namespace manager
