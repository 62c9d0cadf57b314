#pragma once

// Reading a cluster with the user's own rights: discovery, lists in pages, single objects, quotas
// of every API that is served. Nothing here changes anything. Single-threaded.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/kubectl-quota/terminal.h"
#include "informers/reflector.h"
#include "pkg/client/api_client.h"
#include "pkg/client/discovery.h"
#include "pkg/quota/quota.h"

namespace kubectl_quota {

// A quota API that the server serves. "" is the kind of Kubernetes' own quotas, which need none in
// a table; others have "karmadaquota.policy.karmada.io".
struct ServedQuotaApi {
  quota::QuotaApi api;
  std::string kind;
};

struct ReadQuota {
  const ServedQuotaApi* of = nullptr;
  quota::Quota quota;
};

// A list of these fields (dotted paths, divided by blanks).
informers::ReflectorOptions Listing(api::GroupVersionResource resource, std::string ns,
                                    std::string_view fields);

class Cluster {
 public:
  // Both outlive it.
  Cluster(client::ApiClient& client, Terminal& terminal);

  [[nodiscard]] client::ApiClient& client() { return client_; }
  [[nodiscard]] Terminal& terminal() { return terminal_; }

  // Kubernetes' own quota API.
  [[nodiscard]] const quota::QuotaApi& core() const { return core_; }

  // What the server serves; asked once. If it cannot be asked that is a warning, and nothing is
  // known to be served.
  base::Task<const client::Discovered*> Kinds();
  // The APIs whose quotas may be there; Kubernetes' own always.
  base::Task<const std::vector<ServedQuotaApi>*> QuotaApis();

  // `restart`: objects come again from the first one.
  base::Task<base::Result<void>> List(informers::ReflectorOptions what,
                                      std::function<void(const json::Value&)> object,
                                      std::function<void()> restart);
  base::Task<base::Result<json::Value>> Get(std::string path);

  // Whether the server would create the object: everything but storing it is done. Errors: its
  // refusal.
  base::Task<base::Result<void>> DryRun(std::string path, json::Value object);

  // The quotas of a namespace, or of all with "". One that cannot be read is a warning, and so is
  // an API other than Kubernetes' own whose quotas may not be listed.
  base::Task<base::Result<std::vector<ReadQuota>>> Quotas(std::string ns, std::string selector);

 private:
  base::Task<base::Result<void>> QuotasOf(const ServedQuotaApi& served, std::string ns,
                                          std::string selector, std::vector<ReadQuota>& quotas);

  client::ApiClient& client_;
  Terminal& terminal_;
  const quota::QuotaApi core_;
  std::optional<client::Discovered> kinds_;
  std::vector<ServedQuotaApi> apis_;
};

// What is listed of a quota API.
informers::ReflectorOptions QuotaList(const quota::QuotaApi& api, const std::string& ns,
                                      const std::string& selector);

}  // namespace kubectl_quota
