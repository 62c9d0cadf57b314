#pragma once

// The quotas of one quota API as the API server last showed them: filled by a reflector, and by the
// answers to our own writes, whichever is newer.
//
// A quota that cannot be read (a malformed quantity) is held as broken: it is named once, and no
// other quota is hurt by it. Single-threaded; pointers are valid until the next call that changes
// the store, and never across a suspension.

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "informers/reflector.h"
#include "pkg/api/resource.h"
#include "pkg/quota/quota.h"

namespace controllers {

class QuotaListener {
 public:
  virtual ~QuotaListener() = default;
  // A quota came (`before` null), changed, or went (`after` null). Also called for a quota that
  // became broken (`after` null) or whole again (`before` null).
  virtual void OnQuota(const quota::Quota* before, const quota::Quota* after) = 0;
  // The first complete list is in.
  virtual void OnQuotasSynced() = 0;
};

class QuotaStore final : public informers::CollectionSink {
 public:
  // `api_name` is the quota API's name, for logs, and `form` that of its quotas. `listener`
  // outlives the store.
  QuotaStore(std::string api_name, QuotaListener& listener, quota::QuotaForm form = {});

  void BeginList() override;
  void Upsert(const json::Value& object) override;
  void Remove(const json::Value& object) override;
  bool SweepSome() override;
  void EndList() override;

  // The answer of a write or a live read; ignored if the store already has something newer.
  void Apply(quota::Quota quota);

  // The answer of a live read that was asked for when the store held what it holds still. It is the
  // truth, also where it is older: the server was put back to an earlier state.
  void Correct(quota::Quota quota);

  // What a list of this namespace says that was read beside the watch, and is not older than what
  // that has shown: quotas come and go by it. `put_back`: it is older, and the truth all the same.
  void Replace(const std::string& ns, const json::Array& quotas, bool put_back = false);

  // The server says that this object is no longer there, before the watch does: what a watch that
  // lags still shows of it is no news.
  void Forget(const api::ObjectKey& key, std::string_view uid);

  [[nodiscard]] const quota::Quota* Find(const api::ObjectKey& key) const;
  // Names of the namespace's quotas.
  [[nodiscard]] std::vector<api::ObjectKey> InNamespace(std::string_view ns) const;
  // Where a walk over all quotas has come to: the quotas up to this one, which may be gone, were
  // visited.
  using Place = api::ObjectKey;
  // Hands the next quotas after `place`, `most` of them at most, to `visit`, which must not change
  // the store. A walk begins with an empty place. False: there are no more. The store may change
  // between two calls: what is there all the time is visited once.
  bool VisitSome(Place& place, std::size_t most,
                 const std::function<void(const quota::Quota&)>& visit) const;
  [[nodiscard]] bool synced() const { return synced_; }
  // For the listener: the change that it is told was shown by the watch, which skips no version.
  [[nodiscard]] bool in_order() const { return in_order_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t broken() const { return broken_.size(); }

 private:
  using Namespace = std::map<std::string, quota::Quota, std::less<>>;  // by name
  enum class Order : std::uint8_t { kNewerOnly, kAny };
  void Take(const json::Value& object, Order order);
  void Put(quota::Quota quota, Order order);
  void Drop(const api::ObjectKey& key);
  void MarkBroken(const api::ObjectKey& key, const base::Error& why);

  std::string api_name_;
  QuotaListener& listener_;
  quota::QuotaForm form_;
  // Ordered tables: a hash table of all quotas that grows would hold the event loop for too long.
  std::map<std::string, Namespace, std::less<>> namespaces_;
  std::size_t size_ = 0;
  std::map<api::ObjectKey, std::string> broken_;  // why, so that it is said once
  bool synced_ = false;
  bool listing_ = false;
  bool in_order_ = false;
  std::set<api::ObjectKey> listed_;   // seen since BeginList()
  std::set<api::ObjectKey> applied_;  // since then, which the list may be older than
  Place swept_;                       // by what ends that list
  bool swept_all_ = true;
  // Uids of what is gone and whose deletion the watch has still to show. A list of all clears it:
  // it says what is stored, also where the store was put back to an earlier state.
  static constexpr std::size_t kMostForgotten = 4096;
  std::unordered_set<std::string> forgotten_;
};

}  // namespace controllers
