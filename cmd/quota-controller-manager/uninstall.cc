#include "cmd/quota-controller-manager/uninstall.h"

#include <iostream>

#include "cmd/quota-controller-manager/run_once.h"
#include "cmd/quota-controller-manager/uninstall_objects.h"
#include "controllers/applied/applied_object.h"
#include "pkg/api/object_meta.h"
#include "pkg/base/scheduler.h"
#include "pkg/leader/lease_lock.h"
#include "pkg/quota/defined/defined_quota.h"
#include "pkg/webhook/certificate_secret.h"
#include "pkg/webhook/ownership.h"
#include "pkg/webhook/removal.h"
#include "pkg/webhook/webhook_configuration.h"

namespace manager {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

constexpr std::chrono::milliseconds kTimeout = 15s;
// A daemon restores its configuration a tenth of a second after a watch event.
constexpr std::chrono::milliseconds kUntilRestored = 3s;
// The assumed duration of a lease without one.
constexpr std::chrono::seconds kLeaseDuration = 15s;
constexpr std::chrono::milliseconds kLook = 500ms;
// For all objects of a kind together.
constexpr std::chrono::minutes kObjectsDuration{5};
constexpr int kTries = 5;  // others may write at the same time

const api::GroupVersionResource kLeases{"coordination.k8s.io", "v1", "leases"};
const api::GroupVersionResource kSecrets{"", "v1", "secrets"};

struct Target {
  std::string what;  // "lease quota-system/quota-controller-manager"
  std::string path;
};

// What daemons write into namespaces.
std::vector<api::GroupVersionResource> WrittenObjects() {
  return {controllers::AppliedResource(), quota::DefinedQuotas()};
}

base::Error Failure(std::string message) {
  return {.code = base::ErrorCode::kUnavailable, .message = std::move(message)};
}

class Uninstaller {
 public:
  Uninstaller(client::ApiClient& client, base::Scheduler& scheduler, const Options& options,
              const api::ObjectKey& lease, std::ostream& out)
      : client_(client),
        scheduler_(scheduler),
        options_(options),
        out_(out),
        installation_(lease.ToString()),
        configuration_{
            "validatingwebhookconfiguration " + webhook::ConfigurationOptions().name,
            webhook::kWebhookConfigurations.Path({}, webhook::ConfigurationOptions().name)},
        lease_key_(lease),
        lease_{"lease " + lease.ToString(), kLeases.Path(lease.ns, lease.name)} {}

  base::Task<base::Result<void>> Run();

 private:
  void Say(const std::string& what, std::string_view what_became) {
    out_ << what << ": " << what_became << std::endl;
  }
  // nullopt: the object does not exist.
  base::Task<base::Result<std::optional<json::Value>>> Get(Target target);
  base::Task<base::Result<void>> AwaitLease();
  base::Task<base::Result<webhook::Removal::Kind>> Remove(Target target);
  base::Task<base::Result<void>> RemoveAll(api::GroupVersionResource resource);
  // `removed`: of these our objects were removed, too.
  base::Task<base::Result<void>> CheckStaysAway(std::vector<api::GroupVersionResource> removed);

  client::ApiClient& client_;
  base::Scheduler& scheduler_;
  const Options& options_;
  std::ostream& out_;
  const std::string installation_;
  const Target configuration_;
  const api::ObjectKey lease_key_;
  const Target lease_;
};

base::Task<base::Result<std::optional<json::Value>>> Uninstaller::Get(Target target) {
  client::ApiRequest request{.path = target.path, .timeout = kTimeout};
  auto object = co_await client::DoJson(client_, std::move(request));
  if (object) co_return std::optional<json::Value>(std::move(*object));
  if (object.error().Is(base::ErrorCode::kNotFound)) co_return std::optional<json::Value>();
  co_return object.error();
}

// Returns when nobody holds the lease: it was released, or not renewed for its duration by our own
// clock. Errors: somebody renews it.
base::Task<base::Result<void>> Uninstaller::AwaitLease() {
  leader::LeaseLock lock(client_, lease_key_);
  const base::TimePoint begun = scheduler_.Now();
  std::string first_renewal;
  for (;;) {
    const auto lease = co_await lock.Read(kTimeout);
    if (!lease) co_return lease.error();
    if (!*lease || (*lease)->holder.empty()) co_return base::Result<void>();
    if (first_renewal.empty()) {
      first_renewal = (*lease)->renew_time;
      Say(lease_.what, "held by " + (*lease)->holder + ", waiting to see whether it is renewed");
    }
    if ((*lease)->renew_time != first_renewal) {
      co_return Failure(
          "a daemon still runs, " + (*lease)->holder +
          ", and would create everything again: stop it first (scale its Deployment to "
          "0)");
    }
    const std::int64_t seconds = (*lease)->duration_seconds;
    const auto lasts = seconds == 0 ? kLeaseDuration : std::chrono::seconds(seconds);
    if (scheduler_.Now() - begun > lasts) co_return base::Result<void>();
    co_await scheduler_.Sleep(kLook);
  }
}

base::Task<base::Result<webhook::Removal::Kind>> Uninstaller::Remove(Target target) {
  using Kind = webhook::Removal::Kind;
  auto removed = co_await webhook::RemoveOurs(client_, target.path, installation_, kTimeout);
  for (int i = 0; i < kTries && !removed && removed.error().Is(base::ErrorCode::kConflict); ++i) {
    removed = co_await webhook::RemoveOurs(client_, target.path, installation_, kTimeout);
  }
  if (!removed) co_return removed.error();
  switch (removed->kind) {
    case Kind::kDeleted:
      Say(target.what, "deleted");
      break;
    case Kind::kAbsent:
      Say(target.what, "there is none");
      break;
    case Kind::kNotOurs:
      Say(target.what, "does not have our label, left unchanged");
      break;
    case Kind::kAnothers:
      Say(target.what, "belongs to the installation " + removed->installation + ", left unchanged");
      break;
  }
  co_return removed->kind;
}

base::Task<base::Result<void>> Uninstaller::RemoveAll(api::GroupVersionResource resource) {
  const base::TimePoint until = scheduler_.Now() + kObjectsDuration;
  auto removal = co_await RemoveObjects(client_, scheduler_, resource, until);
  if (!removal) co_return removal.error().Wrap(resource.resource);
  std::string became = "there is none";
  if (removal->deleted > 0) {
    became = std::to_string(removal->deleted) + " deleted in " +
             std::to_string(removal->namespaces) + " namespaces";
  }
  if (removal->foreign > 0) {
    became += ", " + std::to_string(removal->foreign) + " without our label left unchanged";
  }
  Say(resource.resource, became);
  co_return base::Result<void>();
}

// Finds a running daemon without a lease: it restores the configuration and its objects.
base::Task<base::Result<void>> Uninstaller::CheckStaysAway(
    std::vector<api::GroupVersionResource> removed) {
  co_await scheduler_.Sleep(kUntilRestored);
  for (const api::GroupVersionResource& resource : removed) {
    const auto any = co_await AnyObject(client_, resource);
    if (!any) co_return any.error();
    if (*any) {
      co_return Failure(resource.resource +
                        " were created again by a daemon that still runs: stop it");
    }
  }
  const auto object = co_await Get(configuration_);
  if (!object) co_return object.error();
  if (!*object || !webhook::HasOurLabel(**object)) co_return base::Result<void>();
  if (webhook::InstallationOf(**object) != installation_) co_return base::Result<void>();
  co_return Failure(configuration_.what +
                    " was created again by a daemon that still runs: stop it");
}

base::Task<base::Result<void>> Uninstaller::Run() {
  auto done = co_await AwaitLease();
  if (!done) co_return done;
  const auto kind = co_await Remove(configuration_);
  if (!kind) co_return kind.error();
  // The daemons of that installation write them, too, and nothing distinguishes theirs.
  const bool anothers = *kind == webhook::Removal::Kind::kAnothers;
  // Returned at the end: if some are left, the other objects are removed all the same.
  base::Result<void> objects;
  std::vector<api::GroupVersionResource> removed_objects;
  for (const api::GroupVersionResource& resource : WrittenObjects()) {
    if (anothers) {
      Say(resource.resource, "left unchanged, too");
      continue;
    }
    auto removed = co_await RemoveAll(resource);
    if (removed) {
      removed_objects.push_back(resource);
    } else if (objects) {
      objects = std::move(removed);
    }
  }
  done = co_await CheckStaysAway(std::move(removed_objects));
  if (!done) co_return done;
  if (options_.admission_service) {
    const api::ObjectKey secret = webhook::SecretCertificatesOf(*options_.admission_service).secret;
    Target target{"secret " + secret.ToString(), kSecrets.Path(secret.ns, secret.name)};
    const auto removed = co_await Remove(std::move(target));
    if (!removed) co_return removed.error();
  }
  // Last, so that a repeated --uninstall still finds a running daemon by its lease.
  const auto removed = co_await Remove(lease_);
  if (!removed) co_return removed.error();
  co_return objects;
}

}  // namespace

base::Task<base::Result<void>> Uninstall(client::ApiClient& client, base::Scheduler& scheduler,
                                         Options options, api::ObjectKey lease, std::ostream& out) {
  Uninstaller uninstaller(client, scheduler, options, lease, out);
  auto done = co_await uninstaller.Run();
  co_return done;
}

base::Result<void> Uninstall(boost::asio::io_context& io, const Options& options) {
  const auto task = [&](client::ApiClient& client, base::Scheduler& scheduler,
                        api::ObjectKey lease) {
    return Uninstall(client, scheduler, options, std::move(lease), std::cout);
  };
  return RunOnce(io, options, "uninstall", task);
}

}  // namespace manager
