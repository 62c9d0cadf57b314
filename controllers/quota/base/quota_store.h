#pragma once

// The quotas of one quota API, as the API server last showed them. A reflector and the answers to
// our own writes fill it; the newer one wins.
//
// A quota of which a part cannot be read (a malformed quantity) is logged and counted as broken.
// What can be read of it is enforced (quota::UnreadableSpec). Single-threaded. Pointers are valid
// until the next call that changes the store, and never across a suspension.

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "informers/reflector.h"
#include "pkg/api/resource.h"
#include "pkg/base/clock.h"
#include "pkg/base/log_limit.h"
#include "pkg/quota/quota.h"

namespace controllers {

class QuotaListener {
 public:
  virtual ~QuotaListener() = default;
  // A quota was added (`before` is null), changed, or removed (`after` is null).
  virtual void OnQuota(const quota::Quota* before, const quota::Quota* after) = 0;
  // The first list is complete.
  virtual void OnQuotasSynced() = 0;
};

class QuotaStore final : public informers::CollectionSink {
 public:
  // `api_name` is the name of the quota API, for logs, and `form` describes its quotas. `listener`
  // and `clock` must outlive the store.
  QuotaStore(std::string api_name, QuotaListener& listener, const base::Clock& clock,
             quota::QuotaForm form = {});

  void BeginList() override;
  void Upsert(const json::Value& object) override;
  void Remove(const json::Value& object) override;
  void OnListed(std::string_view version) override { list_version_ = version; }
  bool SweepSome() override;
  void EndList() override;
  [[nodiscard]] bool IsAhead() const override { return !ahead_.empty() || !forgotten_.empty(); }

  // Takes the answer of a write or a live read. It is ignored if the store has a newer version,
  // unless it is `true_if_older`: the server was restored to an earlier state.
  void Apply(quota::Quota quota, bool true_if_older = false);

  // Takes a list of this namespace that was read beside the watch, and that is not older than what
  // the watch has shown, or is `true_if_older`. Quotas are added and removed by it.
  void Replace(const std::string& ns, const json::Array& quotas, bool true_if_older = false);

  // The server says that this object was deleted, before the watch does. Later events of a lagging
  // watch about this object are ignored.
  void Forget(const api::ObjectKey& key, std::string_view uid);

  [[nodiscard]] const quota::Quota* Find(const api::ObjectKey& key) const;
  // The keys of the quotas in the namespace.
  [[nodiscard]] std::vector<api::ObjectKey> InNamespace(std::string_view ns) const;
  // The position of a walk over all quotas: the quotas up to this key were visited. The quota of
  // this key may be deleted.
  using Place = api::ObjectKey;
  // Passes at most `most` quotas after `place` to `visit`, which must not change the store. A walk
  // begins with an empty place. False: there are no more. The store may change between two calls. A
  // quota that exists all the time is visited once.
  bool VisitSome(Place& place, std::size_t most,
                 const std::function<void(const quota::Quota&)>& visit) const;
  [[nodiscard]] bool synced() const { return synced_; }
  // For the listener: true if the current change comes from the watch, which skips no version.
  [[nodiscard]] bool in_order() const { return in_order_; }
  [[nodiscard]] std::size_t size() const { return quotas_.size(); }
  // The number of quotas of which a part cannot be read.
  [[nodiscard]] std::size_t broken() const { return broken_.size(); }

 private:
  void Take(const api::ObjectKey& key, const json::Value& object, bool true_if_older);
  void Put(quota::Quota quota, bool true_if_older);
  // True if the list shows that the quota does not exist any more.
  [[nodiscard]] bool IsGone(const quota::Quota& quota) const;
  void Drop(const api::ObjectKey& key);
  // `why`: what cannot be read; "": everything can.
  void NoteBroken(const api::ObjectKey& key, const std::string& why);

  std::string api_name_;
  QuotaListener& listener_;
  const base::Clock& clock_;
  quota::QuotaForm form_;
  // Ordered tables: a growing hash table of all quotas would block the event loop for too long.
  std::map<api::ObjectKey, quota::Quota> quotas_;
  std::map<api::ObjectKey, std::string> broken_;  // the error, so that it is logged once
  base::LogLimit lines_;
  bool synced_ = false;
  bool listing_ = false;
  bool in_order_ = false;
  std::set<api::ObjectKey> listed_;  // seen since BeginList()
  std::string list_version_;         // of the last list
  // written or read live since BeginList(): the list may be older
  std::set<api::ObjectKey> applied_;
  // written or read live, and not yet shown by the watch in that version
  std::set<api::ObjectKey> ahead_;
  Place swept_;  // by the sweep after that list
  bool swept_all_ = true;
  // Uids of quotas that were deleted, if the watch has not shown the deletion yet. A list of all
  // quotas clears it, because it shows what is stored, even after a restore of the server.
  static constexpr std::size_t kMostForgotten = 4096;
  std::unordered_set<std::string> forgotten_;
};

}  // namespace controllers
