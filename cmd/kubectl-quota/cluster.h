#pragma once

// Reads a cluster with the user's own rights: discovery, lists in pages, single objects, and quotas
// of every served API. It never writes. Single-threaded.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/kubectl-quota/terminal.h"
#include "informers/reflector.h"
#include "pkg/base/clock.h"
#include "pkg/client/api_client.h"
#include "pkg/client/discovery.h"
#include "pkg/quota/quota.h"

namespace kubectl_quota {

// A quota API that the server serves. `kind` is "" for Kubernetes' own quotas, which need no kind
// in a table; else for example "karmadaquota.policy.karmada.io".
struct ServedQuotaApi {
  quota::QuotaApi api;
  std::string kind;
};

// Returns all quota APIs that the plugin knows, Kubernetes' own first.
std::vector<ServedQuotaApi> KnownQuotaApis();

struct ReadQuota {
  const ServedQuotaApi* of = nullptr;
  quota::Quota quota;
};

// Returns a list request for these fields (dotted paths, separated by blanks).
informers::ReflectorOptions Listing(api::GroupVersionResource resource, std::string ns,
                                    std::string_view fields);

class Cluster {
 public:
  // The arguments must outlive it.
  Cluster(client::ApiClient& client, const base::Clock& clock, Terminal& terminal);

  [[nodiscard]] client::ApiClient& client() { return client_; }
  [[nodiscard]] Terminal& terminal() { return terminal_; }

  // Kubernetes' own quota API.
  [[nodiscard]] const quota::QuotaApi& core() const { return core_; }

  // Returns the served kinds; asks the server once. If that fails, it warns and returns no kinds;
  // if nothing answers, or the user is not known, it does not warn: each later request has that
  // error.
  base::Task<const client::Discovered*> Kinds();
  // Returns why Kinds() could not ask at all; nullptr if it could. Nothing else is asked then.
  [[nodiscard]] const base::Error* Unreachable() const {
    return unreachable_ ? &*unreachable_ : nullptr;
  }
  // Returns the rules by which the server counts; asks it once. If that fails, it warns, and the
  // rules are the oldest.
  base::Task<quota::Rules> Rules();
  // Returns the UsageDefinitions; asks the server once. Null: it does not let the user list them,
  // or does not answer. Nobody knows then which names they define.
  base::Task<const std::vector<json::Value>*> UsageDefinitions();
  // Returns the served quota APIs, with the names that are defined. Kubernetes' own is always
  // included.
  base::Task<const std::vector<ServedQuotaApi>*> QuotaApis();

  // `restart` is called before the objects are passed again from the first one.
  base::Task<base::Result<void>> List(informers::ReflectorOptions what,
                                      std::function<void(const json::Value&)> object,
                                      std::function<void()> restart);
  base::Task<base::Result<json::Value>> Get(std::string path);

  // Asks the server to create the object without storing it. Errors: its refusal.
  base::Task<base::Result<void>> DryRun(std::string path, json::Value object);

  // Returns the quotas of a namespace; "": of all. A quota that cannot be read is a warning, and so
  // is an API other than Kubernetes' own that may not be listed.
  base::Task<base::Result<std::vector<ReadQuota>>> Quotas(std::string ns, std::string selector);

 private:
  base::Task<base::Result<void>> QuotasOf(const ServedQuotaApi& served, std::string ns,
                                          std::string selector, std::vector<ReadQuota>& quotas);

  client::ApiClient& client_;
  const base::Clock& clock_;
  Terminal& terminal_;
  const quota::QuotaApi core_;
  std::optional<client::Discovered> kinds_;
  std::optional<base::Error> unreachable_;
  std::optional<quota::Rules> rules_;
  std::optional<base::Result<std::vector<json::Value>>> definitions_;
  std::vector<ServedQuotaApi> apis_;
};

bool Serves(const client::Discovered& kinds, const api::GroupVersionResource& gvr);

// Returns the list request for the quotas of an API.
informers::ReflectorOptions QuotaList(const quota::QuotaApi& api, const std::string& ns,
                                      const std::string& selector);

}  // namespace kubectl_quota
