#include "cmd/quota-controller-manager/admission_service.h"

#include <glog/logging.h>

#include "cmd/quota-controller-manager/descriptors.h"
#include "cmd/quota-controller-manager/server_metrics.h"
#include "pkg/accounting/timing.h"
#include "pkg/json/value.h"
#include "pkg/webhook/certificate_directory.h"
#include "pkg/webhook/certificate_memory.h"
#include "pkg/webhook/certificate_secret.h"
#include "pkg/webhook/handler.h"
#include "pkg/webhook/removal.h"
#include "pkg/webhook/shared_rules.h"

namespace manager {
namespace {

// How long current reviews may take when the daemon stops. No review waits longer for its quota.
constexpr std::chrono::seconds kGrace{6};
// The name of the role in manifests/ and in the chart.
constexpr const char* kOwnerRole = "quota-controller-manager";
constexpr const char* kOwnerRoleOnKarmada = "quota-controller-manager-karmada";
constexpr std::chrono::seconds kLeaveTimeout{3};  // of each request
// Beside it, current reviews are answered. A stop takes 20 s at most.
constexpr std::chrono::seconds kLeaveFor{5};
constexpr std::chrono::milliseconds kLeaveAgain{500};
const api::GroupVersionResource kNamespaces{"", "v1", "namespaces"};

webhook::WebhookKeeperOptions KeeperOptions(const Options& options) {
  webhook::WebhookKeeperOptions keeper;
  keeper.manage = options.manage_webhook;
  keeper.owner_roles = {kOwnerRole, kOwnerRoleOnKarmada};
  keeper.plan.quota_apis = options.enforced;
  keeper.plan.configuration.failure_policy = options.admission_failure_policy;
  keeper.plan.configuration.exempt_namespaces = options.exempt_namespaces;
  keeper.plan.configuration.exempt_labels = options.exempt_labels;
  keeper.plan.configuration.timeout = options.admission_timeout;
  if (options.admission_url) keeper.plan.configuration.endpoint = *options.admission_url;
  if (options.admission_service) keeper.plan.configuration.endpoint = *options.admission_service;
  return keeper;
}

// The names by which API servers call us, the verified one first. Empty if only the admin's own
// webhook configuration has them.
std::vector<std::string> HostsOf(const Options& options) {
  if (options.admission_service) return options.admission_service->Hosts();
  if (options.admission_url) return {options.admission_url->host};
  return {};
}

}  // namespace

AdmissionService::AdmissionService(base::asio::any_io_executor executor, base::Scheduler& scheduler,
                                   client::ApiClient& client, metrics::Registry& registry,
                                   const Options& options,
                                   const webhook::WebhookKeeperOptions& keeper)
    : executor_(executor),
      scheduler_(scheduler),
      registry_(registry),
      options_(options),
      client_(client),
      installation_(keeper.plan.configuration.installation),
      metrics_(registry, options.enforced),
      refusals_(scheduler, *keeper.events, client),
      observer_(metrics_,
                [this](std::string_view quota_api, const admission::Refusal& refusal) {
                  OnRefusal(quota_api, refusal);
                }),
      exempt_(scheduler, client, keeper.plan.configuration.Exempt(), options.exempt_selector,
              keeper.reflector, [this] { TellExempt(); }),
      keeper_(executor, scheduler, client, *this, keeper),
      other_webhooks_(scheduler, client, keeper.plan.configuration.name, keeper.reflector,
                      [this](base::Duration longest) { FollowWebhooks(longest); }),
      admitter_(executor, scheduler, observer_, AdmitterOptions()),
      tasks_(executor),
      closing_(executor) {}

base::Result<std::unique_ptr<AdmissionService>> AdmissionService::New(
    base::asio::any_io_executor executor, base::Scheduler& scheduler, client::ApiClient& client,
    client::EventRecorder& events, metrics::Registry& registry, const Options& options,
    const std::string& installation, std::function<std::string()> leader) {
  webhook::WebhookKeeperOptions keeper = KeeperOptions(options);
  keeper.leader = std::move(leader);
  keeper.plan.configuration.installation = installation;
  keeper.events = &events;
  std::unique_ptr<AdmissionService> service(
      new AdmissionService(executor, scheduler, client, registry, options, keeper));
  const auto made = service->MakeCertificates(client);
  if (!made) return made.error();
  if (!options.admission_client_ca.empty()) {
    auto clients = webhook::ClientAuthority::New(scheduler, options.admission_client_ca);
    if (!clients) return clients.error().Wrap("flag --admission-client-ca");
    service->clients_ = std::move(*clients);
  }
  return base::Result<std::unique_ptr<AdmissionService>>(std::move(service));
}

base::Result<void> AdmissionService::MakeCertificates(client::ApiClient& client) {
  const std::vector<std::string> hosts = HostsOf(options_);
  if (!options_.admission_cert_dir.empty()) {
    certificates_ = webhook::NewDirectoryCertificates(
        scheduler_, options_.admission_cert_dir, hosts.empty() ? std::string() : hosts.front());
    return {};
  }
  if (options_.admission_service) {
    certificates_ = webhook::NewSecretCertificates(
        client, scheduler_, webhook::SecretCertificatesOf(*options_.admission_service));
    return {};
  }
  auto made = webhook::NewMemoryCertificates(scheduler_, hosts);
  if (!made) return made.error();
  certificates_ = std::move(*made);
  return {};
}

void AdmissionService::Prepare(const std::string& quota_api,
                               controllers::QuotaControllerOptions& options) {
  options.admission = &observer_;
  options.exempt = exempt_.all();
  options.guarded = [this, quota_api](const quota::Evaluator& evaluator,
                                      const api::ObjectKey& quota) {
    return IsGuarded(quota_api, evaluator.resource, quota);
  };
  options.on_constrained = [this, quota_api] { WantRules(quota_api); };
  // What an admin's own configuration says is not read.
  if (!options_.manage_webhook) return;
  options.unenforced = [this, quota_api] { return UnenforcedOf(quota_api); };
}

bool AdmissionService::IsGuarded(const std::string& quota_api, const api::GroupResource& resource,
                                 const api::ObjectKey& quota) const {
  if (!quota.ns.empty()) {
    // Quotas of exempt namespaces are counted and shown, although no rule guards their names.
    return exempt_.named().contains(quota.ns) || keeper_.Stored(quota_api, resource, quota.ns);
  }
  const controllers::QuotaController* const controller = ControllerOf(quota_api);
  if (controller == nullptr) return false;
  const quota::LimitedPlaces* const places = controller->places();
  const quota::LimitedPlaces::Counts* const below =
      places == nullptr ? nullptr : places->Below(quota.name);
  return below != nullptr && keeper_.Stored(quota_api, resource, LimitedIn(*below));
}

void AdmissionService::OnRefusal(std::string_view quota_api, const admission::Refusal& refusal) {
  if (const auto part = wholes_.find(quota_api); part != wholes_.end()) {
    admission::Refusal by_whole = refusal;
    const controllers::QuotaController* const controller = ControllerOf(part->first);
    const quota::Quota* const quota =
        controller == nullptr ? nullptr : controller->store().Find(refusal.quota);
    by_whole.quota_uid = quota == nullptr ? "" : quota->whole_uid;
    return OnRefusal(part->second, by_whole);
  }
  if (on_refused_) on_refused_(quota_api, refusal);
  if (refusal.mode == quota::ClusterSpec::Enforcement::kAudit) return;
  if (refusal.quota_uid.empty()) return;  // nobody knows which quota it is
  const auto type = quota_types_.find(quota_api);
  if (type != quota_types_.end()) refusals_.Report(type->second, refusal);
}

void AdmissionService::NoteType(const quota::QuotaApi& api) {
  quota_types_[api.name] = {.api_version = api.KnownVersion(),
                            .kind = api.KnownKind(),
                            .ns = "",
                            .name = "",
                            .uid = "",
                            .resource_version = ""};
  if (api.part_of) wholes_[api.name] = api.part_of->quota_api;
}

admission::QuotaAdmitterOptions AdmissionService::AdmitterOptions() const {
  admission::QuotaAdmitterOptions options;
  options.max_waiting = options_.admission_queue_limit;
  options.max_waiting_in_namespace =
      std::max<std::size_t>(1, std::min(options.max_waiting_in_namespace, options.max_waiting / 4));
  options.warn_near_limits = options_.warn_near_limits;
  options.exempt_namespaces = exempt_.all();
  options.may_call = [this](const std::string& quota_api, const api::GroupResource& resource,
                            std::string_view ns) {
    return !keeper_.IsAbsent(quota_api, resource, ns);
  };
  options.definitions_known = [this] { return definitions_known_(); };
  return options;
}

void AdmissionService::Advise(const quota::QuotaApi& api) {
  NoteType(api);
  admitter_.Advise(api);
}

void AdmissionService::Enforce(const quota::QuotaApi& api) {
  NoteType(api);
  enforced_[api.name] = nullptr;
  admitter_.Enforce(api);
}

controllers::QuotaController* AdmissionService::ControllerOf(const std::string& quota_api) const {
  const auto enforced = enforced_.find(quota_api);
  return enforced == enforced_.end() ? nullptr : enforced->second;
}

void AdmissionService::Attach(const std::string& quota_api,
                              controllers::QuotaController& controller) {
  if (const auto enforced = enforced_.find(quota_api); enforced != enforced_.end()) {
    enforced->second = &controller;
    // Before the first review: its reservation must be held long enough.
    controller.SetSlowestWebhook(other_webhooks_.Longest());
  }
  admitter_.Open(quota_api, controller.quota_book(), controller.object_book());
}

// If a slower webhook was added in a gap of the watch, it is known or assumed before the shortest
// hold ends.
static_assert(webhook::OtherWebhooks::kPatience < accounting::HoldFor({}));

void AdmissionService::FollowWebhooks(base::Duration slowest) {
  for (const auto& [name, controller] : enforced_) {
    if (controller != nullptr) controller->SetSlowestWebhook(slowest);
  }
}

base::Task<void> AdmissionService::Detach(std::string quota_api) {
  if (const auto enforced = enforced_.find(quota_api); enforced != enforced_.end()) {
    enforced->second = nullptr;
  }
  base::TaskGroup closing(executor_);  // its Join() waits even if the caller is cancelled
  closing.Spawn("close book", [&] { return admitter_.Close(quota_api); });
  co_await closing.Join();
}

void AdmissionService::WantRules(const std::string& quota_api) {
  const controllers::QuotaController* const controller = ControllerOf(quota_api);
  if (controller == nullptr) return;
  const controllers::Tracker& tracker = controller->tracker();
  const quota::LimitedPlaces* const places = controller->places();
  std::vector<webhook::GuardedResource> wanted;
  for (const auto* evaluator : tracker.Constrained()) {
    wanted.push_back(webhook::Guarded(quota_api, *evaluator));
    wanted.back().namespaces = places != nullptr
                                   ? LimitedIn(places->In(evaluator->resource))
                                   : Limited(tracker.limits().NamespacesOf(evaluator->resource));
  }
  keeper_.SetWanted(quota_api, std::move(wanted));
}

webhook::Namespaces AdmissionService::Limited(
    const controllers::LimitedNamespaces& namespaces) const {
  // With too many names for a namespaceSelector the webhook is called for all namespaces.
  if (namespaces.size() > webhook::kMostNamespaces + exempt_.named().size()) return {};
  webhook::Namespaces limited{.all_but = false};
  for (const auto& [ns, quotas] : namespaces) {
    if (!exempt_.named().contains(ns)) limited.names.insert(ns);
  }
  return limited;
}

// With more than a namespaceSelector can say, the webhook is called for all namespaces.
webhook::Namespaces AdmissionService::LimitedIn(const quota::LimitedPlaces::Counts& places) const {
  using Kind = quota::Place::Kind;
  webhook::Namespaces limited{.all_but = false};
  for (const auto& [place, quotas] : places) {
    if (place.kind == Kind::kAll) return {};
    if (place.kind == Kind::kLabelled) limited.label_keys.insert(place.text);
    if (limited.label_keys.size() > webhook::kMostLabelKeys) return {};
    const bool named = place.kind == Kind::kNamed && !exempt_.named().contains(place.text);
    if (named) limited.names.insert(place.text);
    if (limited.names.size() > webhook::kMostNamespaces) return {};
  }
  return limited;
}

void AdmissionService::HasNone(const std::string& quota_api) {
  admitter_.HasNone(quota_api);
  keeper_.SetWanted(quota_api, {});
}

void AdmissionService::TellExempt() {
  for (const auto& [name, controller] : enforced_) {
    if (controller != nullptr) controller->OnExempt();
  }
}

void AdmissionService::OnStoredRules() {
  for (const auto& [name, controller] : enforced_) {
    if (controller != nullptr) controller->OnGuards();
  }
}

base::Result<void> AdmissionService::Listen(debug::Health& health) {
  http::ServerOptions options = webhook::WebhookServerOptions();
  options.address = options_.admission->address;
  options.port = options_.admission->port;
  options.max_connections = WebhookConnections(DescriptorLimit());
  // A placeholder that no client trusts, until certificates_ has its first certificate.
  auto placeholder = http::MakeSelfSigned({"localhost"});
  if (!placeholder) return placeholder.error();
  options.tls = TlsWith(placeholder->cert_pem, placeholder->key_pem);
  webhook::HandlerOptions handling;
  handling.max_in_hand = std::max<std::size_t>(1, options.max_connections / 8 * 7);
  auto server = http::NewServer(executor_, options,
                                webhook::NewHandler(admitter_, observer_, scheduler_, handling));
  if (!server) return server.error();
  server_ = std::move(*server);
  ExposeServer(registry_, "admission", *server_);
  LOG(INFO) << "serving what=admission address=" << options.address << " port=" << server_->port();
  if (options_.manage_webhook) {
    certificates_->SetPublished(
        [this](const std::string& bundle) { return keeper_.IsCaBundleStored(bundle); });
  }
  certificates_->SetListener([this](const webhook::CertificateMaterial& material) {
    // Publish the CA only if the certificate can be served.
    if (ServeWith(material)) keeper_.SetCaBundle(material.ca_bundle_pem);
    if (certificate_listener_) certificate_listener_(material);
  });
  if (clients_) {
    clients_->SetListener([this] {
      if (certificates_->current() != nullptr) ServeWith(*certificates_->current());
    });
  }
  // A Service routes only to ready pods, and one must be ready when the first rule is stored.
  if (options_.admission_service && options_.manage_webhook) {
    keeper_.BeginWhen([&health] { return health.IsReady(); });
  }
  health.AddReadiness("admission", [this] { return WhyNotReady(); });
  metrics::Gauge stored =
      registry_.NewGauge("quota_admission_rules_stored",
                         "1 while the stored webhook configuration matches the quotas.", {});
  registry_.OnScrape([this, stored]() mutable {
    std::string why;
    stored.Set(keeper_.Ready(&why) ? 1 : 0);
  });
  metrics::Gauge expiry = registry_.NewGauge(
      "quota_admission_certificate_expiry_timestamp_seconds",
      "When the webhook's certificate expires, in seconds since 1970; 0 while there is none.", {});
  registry_.OnScrape([this, expiry]() mutable {
    const auto end = certificates_->not_after();
    expiry.Set(end ? std::chrono::duration<double>(end->time_since_epoch()).count() : 0);
  });
  metrics::Gauge trouble = registry_.NewGauge(
      "quota_admission_certificate_trouble",
      "1 while the webhook's certificate cannot be read or renewed, or a clock refuses it.", {});
  registry_.OnScrape(
      [this, trouble]() mutable { trouble.Set(certificates_->trouble().empty() ? 0 : 1); });
  return {};
}

void AdmissionService::SetCertificateListener(webhook::CertificateSource::Listener listener) {
  certificate_listener_ = std::move(listener);
  if (certificates_->current() != nullptr) certificate_listener_(*certificates_->current());
}

// Not ready if we cannot answer or are not trusted. Rules that are not stored yet do not count: if
// one cannot be written, all replicas would become unready for the rules that are stored.
std::optional<debug::Failure> AdmissionService::WhyNotReady() const {
  std::string why;
  if (!certificates_->Ready(&why)) {
    return debug::Failure{.reason = "the webhook has no valid certificate", .detail = why};
  }
  if (keeper_.IsTrusted(certificates_->current()->cert_pem, &why)) return std::nullopt;
  return debug::Failure{.reason =
                            "the webhook configuration is not ours, or does not trust the "
                            "webhook's certificate",
                        .detail = why};
}

std::optional<controllers::Unenforced> AdmissionService::UnenforcedOf(
    const std::string& quota_api) const {
  const auto unasked = keeper_.UnaskedOf(quota_api);
  if (!unasked) return std::nullopt;
  controllers::Unenforced unenforced{
      .why = unasked->why, .decided = keeper_.IsOpen(), .resources = unasked->resources};
  const webhook::CertificateMaterial* const served = certificates_->current();
  std::string why;
  const bool asks = unenforced.why.empty() && served != nullptr;
  if (asks && !keeper_.IsTrusted(served->cert_pem, &why)) unenforced.why = std::move(why);
  return unenforced;
}

// Adds the clients' CA if clients must show a certificate.
http::ServerTls AdmissionService::TlsWith(std::string cert_pem, std::string key_pem) const {
  return {.cert_pem = std::move(cert_pem),
          .key_pem = std::move(key_pem),
          .client_ca_pem = clients_ ? clients_->pem() : "",
          .require_client_cert = clients_ != nullptr};
}

bool AdmissionService::ServeWith(const webhook::CertificateMaterial& material) {
  const auto set = server_->SetTls(TlsWith(material.cert_pem, material.key_pem));
  if (set) return true;
  LOG(ERROR) << "cannot serve the certificate error=" << json::Quote(set.error().message);
  return false;
}

base::Task<void> AdmissionService::Run() {
  co_await base::DeferCancellation();
  tasks_.Spawn("certificates", [this] { return certificates_->Run(); });
  if (clients_) tasks_.Spawn("client authority", [this] { return clients_->Run(); });
  tasks_.Spawn("webhook configuration", [this] { return keeper_.Run(); });
  tasks_.Spawn("other webhooks", [this] { return other_webhooks_.Run(); });
  tasks_.Spawn("exempt namespaces", [this] { return exempt_.Run(); });
  tasks_.Spawn("refusals", [this] { return refusals_.Run(); });
  co_await server_->Run();
  co_await base::IgnoreCancellation();  // current reviews end by themselves, within their deadline
  co_await admitter_.Stop();
  // Only now: as long as reviews are answered, certificate and rules must be maintained.
  tasks_.Cancel();
  co_await tasks_.Join();
  co_await closing_.Join();
}

void AdmissionService::Stop(std::chrono::milliseconds linger) {
  server_->Drain(true);
  closing_.Spawn("close", [this, linger] { return CloseAfter(linger); });
}

// Our token ends with the namespace, so any try may be the last one that can succeed.
base::Task<void> AdmissionService::LeaveWith(std::string ns) {
  if (!options_.manage_webhook || ns.empty()) co_return;
  const base::TimePoint until = scheduler_.Now() + kLeaveFor;
  for (;;) {
    const base::Result<void> left = co_await TryToLeaveWith(ns);
    if (left) co_return;
    if (scheduler_.Now() >= until) {
      LOG(ERROR)
          << "webhook configuration is left: it is not known whether the daemon's namespace is "
             "being deleted, or the deletion failed. If the namespace goes, delete it by "
             "hand, or API servers refuse what quotas limit name="
          << webhook::ConfigurationOptions().name << " namespace=" << ns
          << " error=" << json::Quote(left.error().message);
      co_return;
    }
    co_await scheduler_.Sleep(kLeaveAgain);
  }
}

base::Task<base::Result<void>> AdmissionService::TryToLeaveWith(std::string ns) {
  client::ApiRequest look;
  look.path = kNamespaces.Path({}, ns);
  look.timeout = kLeaveTimeout;
  const auto found = co_await client::DoJson(client_, std::move(look));
  if (!found && !found.error().Is(base::ErrorCode::kNotFound)) co_return found.error();
  const bool stays = found && found->StringAt({"metadata", "deletionTimestamp"}).empty();
  if (stays) co_return base::Result<void>();
  // The keeper must not restore the configuration that is deleted next.
  keeper_.Leave();
  const std::string& name = webhook::ConfigurationOptions().name;
  const auto removed = co_await webhook::RemoveOurs(
      client_, webhook::kWebhookConfigurations.Path({}, name), installation_, kLeaveTimeout);
  if (!removed) co_return removed.error();
  if (removed->kind == webhook::Removal::Kind::kDeleted) {
    LOG(WARNING) << "deleted the webhook configuration with its namespace namespace=" << ns;
  }
  co_return base::Result<void>();
}

base::Task<void> AdmissionService::CloseAfter(std::chrono::milliseconds linger) {
  co_await scheduler_.Sleep(linger);
  server_->Stop(kGrace);
}

}  // namespace manager
