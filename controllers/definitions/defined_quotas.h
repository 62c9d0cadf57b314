#pragma once

// Keeps for each ResourceQuota with limits on names of UsageDefinitions a DefinedQuota, the part
// that this daemon decides beside the API server's own quota plugin (pkg/quota/defined). A
// DefinedQuota without such a ResourceQuota is deleted.
//
// The stores of the two quota controllers show what exists. Only the leader writes.
//
// Single-threaded. Run() must have returned before it is destroyed.

#include <functional>
#include <optional>

#include "controllers/quota/base/quota_store.h"
#include "controllers/quota/events/once_log.h"
#include "controllers/usage/tracked_resource.h"
#include "pkg/queue/async_queue.h"
#include "pkg/quota/defined/defined_quota.h"

namespace controllers {

struct DefinedQuotaHooks {
  // Null while their quota controller does not run. Neither may be null itself.
  std::function<const QuotaStore*()> resource_quotas;
  std::function<const QuotaStore*()> defined_quotas;
  std::function<bool()> leading;
  // True if the API server is known not to serve DefinedQuotas.
  std::function<bool()> absent = [] { return false; };
  // False: no ResourceQuota has a part, because this daemon decides ResourceQuotas as a whole.
  bool in_parts = true;
};

class DefinedQuotaController {
 public:
  // What `context` points to must outlive it.
  DefinedQuotaController(const TrackingContext& context, DefinedQuotaHooks hooks);

  // The ResourceQuota or the DefinedQuota of this key was added, changed or removed.
  void OnQuota(const api::ObjectKey& key);
  // Runs until cancelled. Then finishes the writes that were sent.
  base::Task<void> Run();

 private:
  // True if both kinds of quotas are listed, and this process leads.
  [[nodiscard]] bool MayWrite() const;
  // The write that makes the DefinedQuota of this key the part of `whole`; nullopt: it is, as far
  // as the watch has shown. REQUIRES: MayWrite().
  [[nodiscard]] std::optional<client::ApiRequest> WriteFor(const api::ObjectKey& key,
                                                           const quota::Quota* whole) const;
  // True if a write is due by what the watches have shown, and this process may write.
  [[nodiscard]] bool IsDue(const api::ObjectKey& key) const;
  void Tell(const api::ObjectKey& key, const base::Error* error);
  // Adds all keys of the store of which a write is due, in steps.
  base::Task<void> AddDue(std::function<const QuotaStore*()> store);
  base::Task<void> Work();
  base::Task<bool> Reconcile(api::ObjectKey key);

  TrackingContext context_;
  DefinedQuotaHooks hooks_;
  OnceLog log_once_;
  queue::AsyncQueue<api::ObjectKey> queue_;
};

}  // namespace controllers
