#pragma once

// Decides requests that several quota APIs limit. Either all admit the request, or nothing stays
// reserved.
//
// First all quota APIs judge, which reserves nothing: a request that does not fit costs no write.
// Then all reserve at the same time. If one refuses after all, the others withdraw their grants.
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
// What the API server's own plugin will refuse after all webhooks must not be charged: a namespace
// whose ResourceQuota is full would fill its ClusterQuota with charges that nobody uses, until
// their holds end. So quotas that somebody else enforces advise first (QuotaAdmitter::Advise()).
//
// Single-threaded. Constructor arguments must outlive it.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/admission/admitter.h"
#include "pkg/admission/quota_admitter.h"

namespace admission {

class JointAdmitter final : public Admitter {
 public:
  // False if the stored configuration has no rule of `quota_api` for requests for this resource in
  // `ns`.
  using MayCall = std::function<bool(const std::string& quota_api,
                                     const api::GroupResource& resource, std::string_view ns)>;

  // Answers the webhook of this name, which `own` share. All webhooks get the same `all`, in the
  // same order. REQUIRES: `own` are among them. Without `may_call`, there may be rules of
  // everything. `advisers` are asked about requests that ClusterQuotas limit.
  JointAdmitter(base::asio::any_io_executor executor, std::string name,
                std::vector<QuotaAdmitter*> own, std::vector<QuotaAdmitter*> all,
                MayCall may_call = nullptr, std::vector<QuotaAdmitter*> advisers = {});

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] std::vector<std::string> FieldsOf(const api::GroupResource& resource) override;
  base::Task<Answer> Admit(Review review, base::TimePoint deadline) override;

 private:
  using Admitters = std::vector<QuotaAdmitter*>;
  // The admitters whose quotas may limit the request, in order.
  [[nodiscard]] Admitters Limiting(const Review& review) const;
  // True if its quotas may limit the request, and may be enforced for it.
  [[nodiscard]] bool Concerns(const QuotaAdmitter& admitter, const Review& review) const;
  base::Task<Answer> AdmitBeside(Review review, base::TimePoint deadline);
  base::Task<Answer> AdmitByAll(Review review, Admitters limiting, base::TimePoint deadline);
  // A request that was judged, and the admitter whose quotas have to grow for it.
  struct Reserving {
    QuotaAdmitter* admitter = nullptr;
    std::shared_ptr<QuotaAdmitter::Waiter> judged;
  };
  base::Task<std::vector<Answer>> Reserve(std::vector<Reserving> reserving);

  base::asio::any_io_executor executor_;
  const std::string name_;
  const Admitters own_;
  const Admitters all_;
  const MayCall may_call_;
  const Admitters advisers_;
  std::map<api::GroupResource, std::vector<std::string>> fields_;
};

}  // namespace admission
