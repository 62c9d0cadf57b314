#pragma once

// Decides reviews by the quotas of all enforced quota APIs, and reserves what it admits.
//
// Quotas that somebody else enforces advise first (Advise()). Then the quota APIs judge one after
// the other. A request that needs nothing, or that does not fit anyway, is answered at once. All
// others wait for the writers of their quotas (pkg/admission/quota_writers.h), one of each quota
// API. A refused or abandoned request leaves nothing reserved.
//
// Each call decides for all quota APIs, whichever webhook it is for. Quota APIs that want the same
// of a resource share a webhook (pkg/webhook/webhook_plan.h). If the API server calls several, side
// by side and perhaps on different replicas, nothing is reserved twice for an object. No call
// relies on another one. An API server that has not learnt of the newest webhook configuration may
// not make it.
//
// If the quotas of a quota API cannot be read, the request waits for them and fails. Those of
// another webhook than the one that is called are left out instead, if the API server has no rule
// of that quota API for the resource: then none of its quotas is enforced for it.
//
// Single-threaded. Stop() must have returned before it is destroyed.

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/admission/admitter.h"
#include "pkg/admission/object_book.h"
#include "pkg/admission/observer.h"
#include "pkg/admission/quota_book.h"
#include "pkg/admission/quota_sources.h"
#include "pkg/admission/quota_writers.h"
#include "pkg/admission/waiter.h"
#include "pkg/base/scheduler.h"

namespace admission {

struct QuotaAdmitterOptions {
  // The maximum of waiting reviews in all namespaces. Further reviews are answered kBusy.
  std::size_t max_waiting = 4096;
  // The maximum in one namespace, so that a namespace whose quotas cannot be written does not block
  // others. An API server handles some hundred requests at once.
  std::size_t max_waiting_in_namespace = 1024;
  bool warn_near_limits = true;
  // Nothing is refused there. The set may change. Never null.
  std::shared_ptr<const std::set<std::string, std::less<>>> exempt_namespaces =
      std::make_shared<std::set<std::string, std::less<>>>();
  // False if the stored configuration has no rule of `quota_api` for requests for this resource in
  // `ns`. Null: there may be rules of everything.
  std::function<bool(const std::string& quota_api, const api::GroupResource& resource,
                     std::string_view ns)>
      may_call = nullptr;
  // False while it is not known which names and scopes are defined (UsageDefinitions), besides
  // those of the program. Never null.
  std::function<bool()> definitions_known = [] { return true; };
};

class QuotaAdmitter final : public Admitter {
 public:
  // All arguments except `options` must outlive the admitter.
  QuotaAdmitter(base::asio::any_io_executor executor, base::Scheduler& scheduler,
                Observer& observer, QuotaAdmitterOptions options = {});

  // Decides by the quotas of this quota API, while its books are open. Until Open() or HasNone() is
  // called, what they may limit waits, and is answered kUnavailable at its deadline. Quotas of the
  // namespace decide before ClusterQuotas. Call it before the first review; `api` must outlive the
  // admitter.
  void Enforce(const quota::QuotaApi& api) { sources_.Add(api, false); }
  // Somebody else enforces these quotas: the API server's own plugin, after it has called us. What
  // exceeds one of them by its stored status is not charged to ClusterQuotas. As Enforce().
  void Advise(const quota::QuotaApi& api) { sources_.Add(api, true); }
  // There are quotas of this quota API from now on. Both must live until Close() returns. REQUIRES:
  // Enforce() or Advise() was called with it, and it is not open.
  void Open(const std::string& quota_api, QuotaBook& quotas, ObjectBook& objects) {
    sources_.Open(quota_api, quotas, objects);
  }
  // The API server does not serve this quota API, so there are no quotas. REQUIRES: as Open().
  void HasNone(const std::string& quota_api) { sources_.HasNone(quota_api); }
  // Reviews that begin now find no quotas of this quota API. Returns when none uses its books.
  base::Task<void> Close(std::string quota_api);

  [[nodiscard]] std::vector<std::string> quota_apis() const override { return sources_.Enforced(); }
  [[nodiscard]] std::vector<std::string> FieldsOf(const api::GroupResource& resource) override {
    return sources_.FieldsOf(resource);
  }
  base::Task<Answer> Admit(Review review, base::TimePoint deadline) override;

  // Waits until the current batches are written and their requests are answered.
  base::Task<void> Stop() { return writers_.Stop(); }

 private:
  // True if the API server may have called for the quotas of this quota API.
  [[nodiscard]] bool MayBeCalledFor(const QuotaSource& source, const Review& review) const;
  // True if no request has to wait, as always but for a moment after the start.
  [[nodiscard]] bool IsAllKnown() const;
  // Waits until it is known whether quotas limit the request. Returns the answer if that takes too
  // long.
  base::Task<std::optional<Answer>> AwaitKnown(std::shared_ptr<const Pending> pending);
  // True if the definitions are not known, and its quotas for the request have names or scopes that
  // only these explain.
  base::Task<bool> NeedsDefinitions(QuotaSource& source, std::shared_ptr<const Pending> pending);
  // Polls until it is known. False: not before the deadline, or this process stops.
  base::Task<bool> Await(std::function<bool()> is_known, base::TimePoint deadline);
  // True if its quotas may limit the request, and may be enforced for it.
  [[nodiscard]] bool Concerns(const QuotaSource& source, const Review& review) const;
  // One for each quota API whose quotas may limit the request, in order.
  [[nodiscard]] Waiters WaitersFor(const std::shared_ptr<const Pending>& pending) const;
  // Makes the review of a Scale that of the object which it changes. Returns the answer if there is
  // no more to decide.
  base::Task<std::optional<Answer>> ReadScaled(std::shared_ptr<Pending> pending);
  // The refusal of a quota that somebody else enforces. nullopt: it is not known to be refused, or
  // the quota could not be read within a quarter of a second.
  base::Task<std::optional<Answer>> AdviceOf(QuotaSource& source,
                                             std::shared_ptr<const Pending> pending);
  // Judges a request by the quotas of one quota API. nullopt: they admit it, and have to reserve
  // for it. `earlier`: an ask about the same review that reads alike, or null.
  base::Task<std::optional<Answer>> Begin(std::shared_ptr<Waiter> waiter, const Ask* earlier);
  // Reads the object. Returns why the request is refused whatever the amounts are, or nullopt.
  base::Task<std::optional<Answer>> Objection(std::shared_ptr<Waiter> waiter, const Ask* earlier);
  // Grants at once, or waits for the writers of all quota APIs, and adds their answers to `all`.
  base::Task<Answer> Reserve(std::shared_ptr<Pending> pending, Waiters waiters, Answer all);

  base::Scheduler& scheduler_;
  Observer& observer_;
  const QuotaAdmitterOptions options_;
  QuotaSources sources_;
  WaitingLimit waiting_;
  QuotaWriters writers_;
};

}  // namespace admission
