#include "cmd/quota-controller-manager/manager.h"

#include <glog/logging.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <iterator>

#include "cmd/quota-controller-manager/admission_service.h"
#include "cmd/quota-controller-manager/descriptors.h"
#include "cmd/quota-controller-manager/engine.h"
#include "cmd/quota-controller-manager/event_metrics.h"
#include "cmd/quota-controller-manager/leadership.h"
#include "cmd/quota-controller-manager/quota_series.h"
#include "cmd/quota-controller-manager/request_metrics.h"
#include "cmd/quota-controller-manager/secure_metrics.h"
#include "cmd/quota-controller-manager/server_contact.h"
#include "cmd/quota-controller-manager/server_metrics.h"
#include "cmd/quota-controller-manager/stages.h"
#include "cmd/quota-controller-manager/usage_service.h"
#include "pkg/accounting/timing.h"
#include "pkg/base/asio.h"
#include "pkg/base/duration.h"
#include "pkg/base/gate.h"
#include "pkg/base/scheduler.h"
#include "pkg/base/task_group.h"
#include "pkg/base/text.h"
#include "pkg/client/cluster_config.h"
#include "pkg/client/event_recorder.h"
#include "pkg/client/reachability.h"
#include "pkg/client/rest_client.h"
#include "pkg/debug/endpoints.h"
#include "pkg/heap/heap.h"
#include "pkg/http/server.h"
#include "pkg/json/value.h"
#include "pkg/leader/leader_runner.h"
#include "pkg/leader/lease_witness.h"
#include "pkg/metrics/process_metrics.h"
#include "pkg/quota/cluster/cluster_quota.h"
#include "pkg/quota/core/core_quota.h"
#include "pkg/quota/defined/defined_quota.h"
#include "pkg/quota/ironcore/ironcore_quota.h"
#include "pkg/quota/karmada/karmada_quota.h"
#include "pkg/webhook/webhook_remover.h"

namespace manager {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

// A stop takes 20 s at most; current requests of the small endpoints may use this much of it.
constexpr unsigned kLongestStopSeconds = 20;
// Bounds of metrics and probes: headers with a token, and a few scrapes of the most series.
constexpr std::size_t kMaxHeaderBytes = std::size_t{16} << 10;
constexpr std::size_t kMaxHeldBytes = std::size_t{16} << 20;
constexpr std::chrono::milliseconds kServerGrace = 2s;
constexpr std::chrono::milliseconds kWriteTimeout = 10s;

// In a cluster, a Service still routes new connections to a stopped pod for some seconds.
constexpr std::chrono::milliseconds kLinger = 5s;

// Of counted objects. Reading one keeps a processor busy, so more are not faster: they displace
// each other from its caches, and need more memory here and in the API server.
constexpr std::size_t kListsAtOnce = 8;

// Free memory is returned to the system in sixtieths.
constexpr std::size_t kLittleFree = std::size_t{1} << 20;
constexpr std::chrono::milliseconds kLookPeriod = 500ms;  // while little memory is free
constexpr std::chrono::milliseconds kGiveBackPeriod = heap::kDecay / 60;

const metrics::Buckets kHeldBuckets{0.0001, 0.0005, 0.001, 0.002, 0.003, 0.004, 0.005, 0.0075, 0.01,
                                    0.015,  0.02,   0.05,  0.1,   0.2,   0.5,   1,     5};

// In a pod this is the pod's name.
std::string HostName() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

class ManagerImpl final : public Manager {
 public:
  ManagerImpl(base::asio::io_context& io, Options options)
      : io_(io),
        options_(std::move(options)),
        scheduler_(io.get_executor()),
        signals_(io, SIGTERM, SIGINT),
        tasks_(io.get_executor()) {}

  base::Result<void> Connect(const client::ClusterConfig& config);
  base::Result<void> Serve();
  void Start() override;
  void OnLoopHeld(base::Duration longest) override {
    loop_held_.Observe(std::chrono::duration<double>(longest).count());
  }
  [[nodiscard]] bool ended() const override { return tasks_.empty(); }
  [[nodiscard]] int exit_code() const override { return exit_code_; }

 private:
  base::Result<void> ServeMetrics(bool with_health);
  base::Result<void> ServeAt(const http::BindAddress& address, std::string_view what,
                             debug::Endpoints endpoints, std::optional<http::ServerTls> tls);
  base::Result<void> AddEngines(const client::ClusterConfig& config);
  void AddEngine(quota::QuotaApi api);
  // What the watches of this name need.
  [[nodiscard]] controllers::TrackingContext ContextOf(std::string name);
  void FollowDefinitions();
  [[nodiscard]] bool Enforces(std::string_view quota_api) const {
    return admission_ && base::IsOneOf(quota_api, options_.enforced);
  }
  [[nodiscard]] std::optional<controllers::Unenforced> TurnedOff() const;
  void AddStages(Stages& stages);
  base::Task<void> Work();
  base::Task<void> AwaitSignals();
  base::Task<void> KeepHeapSmall();
  void Elect(const client::ClusterConfig& config);
  // Only the leader of several replicas writes, and only the older one of two installations.
  [[nodiscard]] bool MayWrite() const {
    return leadership_->Leads() && !(admission_ && admission_->IsSecond());
  }
  void Stop(int exit_code);
  void StopAfterFailure() {
    if (!stopping_) Stop(1);
  }

  base::asio::io_context& io_;
  Options options_;
  // Unique for this process among all replicas.
  const std::string identity_ = leader::NewIdentity("").substr(1, 12);
  base::RealScheduler scheduler_;
  base::asio::signal_set signals_;
  metrics::Registry registry_;
  metrics::Histogram loop_held_;
  debug::Health health_{scheduler_};
  client::Reachability reachability_{scheduler_};
  std::unique_ptr<RequestMetrics> request_metrics_;
  std::unique_ptr<client::RestClient> client_;
  std::unique_ptr<EventMetrics> event_metrics_;
  std::unique_ptr<client::ApiEventRecorder> events_;
  std::unique_ptr<controllers::ServedResources> served_;
  base::Gate lists_{scheduler_, kListsAtOnce};
  controllers::SharedResources shared_;
  std::unique_ptr<ServerContact> contact_;
  std::unique_ptr<Leadership> leadership_;
  std::unique_ptr<AdmissionService> admission_;       // null: nothing is enforced
  std::unique_ptr<leader::LeaseWitness> witness_;     // of the lease, for remover_
  std::unique_ptr<webhook::WebhookRemover> remover_;  // set if nothing is enforced
  std::string own_namespace_;                         // of the webhook's Service
  std::unique_ptr<QuotaSeries> quota_series_;
  std::vector<std::unique_ptr<Engine>> engines_;
  std::unique_ptr<UsageService> usage_;            // null: no engine takes UsageDefinitions
  std::unique_ptr<SecureMetrics> secure_metrics_;  // null: everybody may read metrics
  std::vector<std::unique_ptr<http::Server>> servers_;
  bool stopping_ = false;
  int exit_code_ = 0;
  base::TaskGroup tasks_;
};

base::Result<void> ManagerImpl::Connect(const client::ClusterConfig& config) {
  metrics::ExportProcess(registry_);
  metrics::ExportBuildInfo(registry_, Version());
  loop_held_ = registry_.NewHistogram(
      "quota_event_loop_held_seconds",
      "Longest time in each second that one piece of work occupied the event loop.", kHeldBuckets);
  request_metrics_ = std::make_unique<RequestMetrics>(registry_, config.server.Authority());
  auto client = client::NewRestClient(io_.get_executor(), scheduler_, config,
                                      {.user_agent = client::UserAgent(Version()),
                                       .observer = request_metrics_.get(),
                                       .reachability = &reachability_});
  if (!client) return client.error();
  client_ = std::move(*client);
  event_metrics_ = std::make_unique<EventMetrics>(registry_);
  events_ = client::NewEventRecorder(*client_, scheduler_,
                                     {.component = "quota-controller-manager",
                                      .instance = HostName(),
                                      .observer = event_metrics_.get()});
  served_ = std::make_unique<controllers::ServedResources>(*client_, scheduler_);
  ServerContactCallbacks callbacks;
  callbacks.on_contact = [this](bool answers) {
    if (admission_ && !stopping_) admission_->Drain(!answers);  // a stop drains for good
  };
  callbacks.on_refused = [this] { StopAfterFailure(); };
  contact_ =
      std::make_unique<ServerContact>(scheduler_, *client_, reachability_, std::move(callbacks));
  contact_->AddChecks(health_);
  Elect(config);
  health_.AddReadiness("shutdown", [this]() -> std::optional<debug::Failure> {
    if (stopping_) return debug::Failure{.reason = "the daemon is stopping", .detail = ""};
    return std::nullopt;
  });
  LOG(INFO) << "quota-controller-manager version=" << Version()
            << " server=" << json::Quote(config.Describe())
            << " resync_period=" << base::FormatDuration(options_.resync_period)
            << " identity=" << identity_;
  return AddEngines(config);
}

void ManagerImpl::Elect(const client::ClusterConfig& config) {
  LeadershipCallbacks callbacks;
  callbacks.on_started_leading = [this] {
    for (const std::unique_ptr<Engine>& engine : engines_) engine->OnLeading();
  };
  callbacks.on_lost = [this] { StopAfterFailure(); };
  leadership_ = std::make_unique<Leadership>(scheduler_, *client_, *events_, config,
                                             options_.leader_election, HostName(), callbacks);
  leadership_->Export(registry_);
  leadership_->AddChecks(health_);
}

base::Result<void> ManagerImpl::AddEngines(const client::ClusterConfig& config) {
  quota_series_ = std::make_unique<QuotaSeries>(registry_, options_.max_quota_series);
  if (options_.admission) {
    if (options_.admission_service) own_namespace_ = options_.admission_service->ns;
    if (config.in_cluster) own_namespace_ = config.ns;
    // Our own pods must be able to start while no replica answers.
    if (!own_namespace_.empty()) options_.exempt_namespaces.push_back(own_namespace_);
    auto service =
        AdmissionService::New(io_.get_executor(), scheduler_, *client_, *events_, registry_,
                              options_, LeaseOf(config, options_.leader_election).ToString(),
                              [this] { return leadership_->Holder(); });
    if (!service) return service.error();
    admission_ = std::move(*service);
    admission_->SetRefusalListener(
        [this](std::string_view quota_api, const admission::Refusal& refusal) {
          const bool tried = refusal.mode != quota::ClusterSpec::Enforcement::kDeny;
          quota_series_->CountRefusal(quota_api, refusal.quota, refusal.exceeded, tried);
        });
  } else if (options_.enforced.empty()) {
    static constexpr std::chrono::seconds kReadLease{10};
    const api::ObjectKey lease = LeaseOf(config, options_.leader_election);
    witness_ = std::make_unique<leader::LeaseWitness>(*client_, scheduler_, lease);
    remover_ = std::make_unique<webhook::WebhookRemover>(
        scheduler_, *client_,
        webhook::WebhookRemoverOptions{
            .name = webhook::ConfigurationOptions().name,
            .installation = lease.ToString(),
            .identity = leadership_->Identity(),
            .leads = [this] { return leadership_->Leads(); },
            .somebody_leads = [this] { return witness_->MayBeHeld(kReadLease); }});
  }
  FollowDefinitions();
  AddEngine(quota::CoreQuotaApi());
  AddEngine(quota::DefinedQuotaApi());
  AddEngine(quota::ClusterQuotaApi());
  AddEngine(quota::KarmadaQuotaApi());
  AddEngine(quota::IroncoreQuotaApi());
  return {};
}

void ManagerImpl::AddEngine(quota::QuotaApi api) {
  const std::string& counted = api.part_of ? api.part_of->quota_api : api.name;
  if (!base::IsOneOf(counted, options_.quota_apis)) return;
  EngineOptions options{.context = ContextOf(api.name),
                        .controller = {.resync_period = options_.resync_period,
                                       .write_timeout = kWriteTimeout,
                                       .identity = identity_,
                                       .leading = [this] { return MayWrite(); }},
                        .definitions_known = {},
                        .applied = options_.applied_cluster_quotas};
  if (!options_.charge_in_advance) options.controller.crowd.crowd = 0;
  if (usage_) usage_->Prepare(api, options);
  if (Enforces(api.name)) options.admission = admission_.get();
  // Only ResourceQuotas are enforced by the API server itself, after its webhooks.
  const bool by_plugin = api.name == "core" && options.admission == nullptr;
  if (by_plugin && (Enforces("cluster") || Enforces("defined"))) {
    options.advised = admission_.get();
  }
  if (remover_ && api.form.cluster) options.controller.unenforced = [this] { return TurnedOff(); };
  if (base::IsOneOf(api.name, options_.unreachable)) {
    options.not_enforced =
        "set --admission-service or --admission-url, by which the API server reaches the webhook";
  }
  const bool takes_definitions = api.TakesDefinitions();
  const bool is_part = api.part_of.has_value();
  engines_.push_back(
      std::make_unique<Engine>(std::move(api), *served_, shared_, std::move(options)));
  if (takes_definitions) usage_->Add(*engines_.back());
  engines_.back()->AddChecks(health_);
  if (is_part) return;  // the series of the whole show what it limits
  quota_series_->Add(engines_.back()->name(),
                     [engine = engines_.back().get()] { return engine->store(); });
}

controllers::TrackingContext ManagerImpl::ContextOf(std::string name) {
  return {.executor = io_.get_executor(),
          .scheduler = &scheduler_,
          .client = client_.get(),
          .reflector = {.protobuf = options_.protobuf, .backoff = accounting::kReconnect},
          .lists = &lists_,
          .name = std::move(name),
          .registry = &registry_,
          .events = events_.get()};
}

// ResourceQuotas, with their parts, and ClusterQuotas count alike. No other quota API takes names
// of others.
void ManagerImpl::FollowDefinitions() {
  const auto counted = [this](std::string_view quota_api) {
    return base::IsOneOf(quota_api, options_.quota_apis);
  };
  if (!counted("core") && !counted("cluster")) return;
  usage_ = std::make_unique<UsageService>(
      ContextOf("definitions"), *served_,
      UsageService::Settings{.leading = [this] { return MayWrite(); },
                             .whole_resource_quotas = Enforces("core"),
                             .decides_parts = Enforces("defined")});
  if (admission_) admission_->SetDefinitionsKnown([this] { return usage_->Known(); });
}

// A daemon that only counts has promised nothing, unless one of its installation enforced before.
std::optional<controllers::Unenforced> ManagerImpl::TurnedOff() const {
  const std::optional<bool> off = remover_->TurnedOff();
  if (!off) return std::nullopt;
  if (!*off) return controllers::Unenforced{};
  return controllers::Unenforced{
      .why = "enforcement was turned off, and the webhook configuration " +
             webhook::ConfigurationOptions().name + " is empty",
      .decided = true};
}

base::Result<void> ManagerImpl::Serve() {
  if (admission_) {
    const auto listening = admission_->Listen(health_);
    if (!listening) return listening.error().Wrap("flag --admission-bind-address");
  }
  // One address for both needs one server for both.
  const bool together = options_.metrics && options_.health &&
                        options_.metrics->address == options_.health->address &&
                        options_.metrics->port == options_.health->port &&
                        options_.metrics->port != 0;
  if (options_.metrics) {
    const auto served = ServeMetrics(together);
    if (!served) return served.error().Wrap("flag --metrics-bind-address");
  }
  if (together || !options_.health) return {};
  const auto served = ServeAt(*options_.health, "health probes", {.health = &health_}, {});
  if (!served) return served.error().Wrap("flag --health-probe-bind-address");
  return {};
}

base::Result<void> ManagerImpl::ServeMetrics(bool with_health) {
  debug::Endpoints endpoints{.metrics = &registry_};
  if (with_health) endpoints.health = &health_;
  if (!options_.metrics_secure) {
    LOG_IF(WARNING, !IsOnLoopback(*options_.metrics))
        << "metrics, which name namespaces and quotas, are served to everybody who can reach the "
           "port: --metrics-secure=false";
    return ServeAt(*options_.metrics, "metrics", endpoints, {});
  }
  auto secure = SecureMetrics::New(scheduler_, *client_, admission_.get(), HostName());
  if (!secure) return secure.error();
  secure_metrics_ = std::move(*secure);
  endpoints.guard = secure_metrics_->guard();
  auto served = ServeAt(*options_.metrics, "metrics", endpoints, secure_metrics_->tls());
  if (served) secure_metrics_->Follow(*servers_.back());
  return served;
}

base::Result<void> ManagerImpl::ServeAt(const http::BindAddress& address, std::string_view what,
                                        debug::Endpoints endpoints,
                                        std::optional<http::ServerTls> tls) {
  const std::string endpoints_name = endpoints.metrics != nullptr ? "metrics" : "probes";
  http::ServerOptions server_options{.address = address.address, .port = address.port};
  server_options.tls = std::move(tls);
  server_options.max_body_bytes = 0;
  server_options.max_header_bytes = kMaxHeaderBytes;
  server_options.max_held_bytes = kMaxHeldBytes;
  server_options.max_connections = EndpointConnections(DescriptorLimit());
  auto server =
      http::NewServer(io_.get_executor(), server_options, debug::NewHandler(std::move(endpoints)));
  if (!server) return server.error();
  LOG(INFO) << "serving what=" << json::Quote(what) << " address=" << address.address
            << " port=" << (*server)->port() << " tls=" << (server_options.tls ? "yes" : "no");
  servers_.push_back(std::move(*server));
  ExposeServer(registry_, endpoints_name, *servers_.back());
  return {};
}

void ManagerImpl::Start() {
  tasks_.Spawn("work", [this] { return Work(); });
  tasks_.Spawn("signals", [this] { return AwaitSignals(); });
  tasks_.Spawn("heap", [this] { return KeepHeapSmall(); });
}

// Admission stops before the controllers, whose books it charges. The controllers stop before the
// lease, which allows them to write, and before the recorder, which still sends their last events.
// Probes are answered to the end.
void ManagerImpl::AddStages(Stages& stages) {
  if (remover_) stages.Add({{"webhook remover", [this] { return remover_->Run(); }}});
  if (admission_) {
    stages.Add({{"admission", [this] { return admission_->Run(); }}},
               [this](base::TaskGroup& tasks) {
                 tasks.Spawn("leave", [this] { return admission_->LeaveWith(own_namespace_); });
                 admission_->Stop(options_.admission_service ? kLinger : 0ms);
               });
  }
  std::vector<StageTask> engines;
  for (const std::unique_ptr<Engine>& engine : engines_) {
    engines.push_back({"engine " + engine->name(), [&engine] { return engine->Run(); }});
  }
  if (usage_) std::ranges::move(usage_->Tasks(), std::back_inserter(engines));
  stages.Add(std::move(engines));
  stages.Add({{"leadership", [this] { return leadership_->Run(); }},
              {"contact", [this] { return contact_->Run(); }}});
  stages.Add({{"events", [this] { return events_->Run(); }}});
  std::vector<StageTask> endpoints;
  for (const std::unique_ptr<http::Server>& server : servers_) {
    endpoints.push_back({"server", [&server] { return server->Run(); }});
  }
  stages.Add(std::move(endpoints), [this](base::TaskGroup&) {
    for (const std::unique_ptr<http::Server>& server : servers_) server->Stop(kServerGrace);
  });
  if (secure_metrics_) {
    stages.Add({{"metrics certificate", [this] { return secure_metrics_->Run(); }}});
  }
}

base::Task<void> ManagerImpl::Work() {
  co_await base::DeferCancellation();
  Stages stages(io_.get_executor());
  AddStages(stages);
  stages.Start();
  const std::unique_ptr<base::Alarm> stopped = scheduler_.NewAlarm();
  while (!co_await base::Stopping()) {
    co_await stopped->WaitUntil(scheduler_.Now() + std::chrono::hours(1));
  }
  // The cancellation that ended the loop must not cut the stop of the stages short.
  co_await base::IgnoreCancellation();
  co_await stages.Stop();
  co_await client_->Close();
}

// Returns memory that is free after a burst (a long list, many charges) in small parts, so that no
// part holds the event loop for long.
base::Task<void> ManagerImpl::KeepHeapSmall() {
  co_await base::DeferCancellation();
  for (bool stopping = false; !stopping;) {
    const bool much = heap::FreeBytes() > kLittleFree;
    co_await scheduler_.Sleep(much ? kGiveBackPeriod : kLookPeriod);
    stopping = co_await base::Stopping();
    heap::GiveBackDue();
  }
}

base::Task<void> ManagerImpl::AwaitSignals() {
  const auto [error, signal] = co_await signals_.async_wait(base::kTuple);
  if (error) co_return;
  LOG(INFO) << "stopping signal=" << (signal == SIGTERM ? "SIGTERM" : "SIGINT");
  Stop(0);
}

void ManagerImpl::Stop(int exit_code) {
  exit_code_ = exit_code;
  // A second signal ends the process at once, and so does the alarm after the promised time.
  for (const int at_once : {SIGTERM, SIGINT, SIGALRM}) std::signal(at_once, [](int) { _exit(1); });
  alarm(kLongestStopSeconds);
  stopping_ = true;
  tasks_.Cancel();
}

}  // namespace

base::Result<std::unique_ptr<Manager>> NewManager(boost::asio::io_context& io, Options options) {
  const auto config = client::LoadClusterConfig(LoadOptionsFrom(options));
  if (!config) return config.error();
  auto manager = std::make_unique<ManagerImpl>(io, std::move(options));
  const auto connected = manager->Connect(*config);
  if (!connected) return connected.error();
  const auto served = manager->Serve();
  if (!served) return served.error();
  return base::Result<std::unique_ptr<Manager>>(std::move(manager));
}

}  // namespace manager
