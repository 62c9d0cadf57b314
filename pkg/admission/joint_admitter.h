#pragma once

// Decides requests that several quota APIs limit. Either all admit the request, or nothing stays
// reserved.
//
// First all quota APIs judge, which reserves nothing: a request that does not fit costs no write.
// Then all reserve at the same time. If one refuses after all, the others withdraw their grants.
//
// The API server calls one webhook for each quota API, side by side and perhaps on different
// replicas. Each call whose own quotas limit the request decides for all of them: nothing is
// reserved twice for an object. No call relies on another one. An API server that has not learnt of
// the newest webhook configuration may not make it.
//
// If the quotas of another quota API cannot be read, the request waits for them and fails, except
// if the API server does not call that quota API's webhook for the resource: then none of its
// quotas is enforced for it.
//
// What the API server's own plugin will refuse after all webhooks must not be charged: a namespace
// whose ResourceQuota is full would fill its ClusterQuota with charges that nobody uses, until
// their holds end. So quotas that somebody else enforces advise first (QuotaAdmitter::Advise()).
//
// Single-threaded. Constructor arguments must outlive it.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/admission/admitter.h"
#include "pkg/admission/quota_admitter.h"

namespace admission {

class JointAdmitter final : public Admitter {
 public:
  // False if the stored configuration does not call the webhook of `quota_api` for requests for
  // this resource in `ns`.
  using MayCall = std::function<bool(const std::string& quota_api,
                                     const api::GroupResource& resource, std::string_view ns)>;

  // Answers the webhook of `own`. All webhooks get the same `all`, in the same order. REQUIRES:
  // `own` is one of them. Without `may_call`, each webhook may be called for everything.
  // `advisers` are asked about requests that ClusterQuotas limit.
  JointAdmitter(base::asio::any_io_executor executor, QuotaAdmitter& own,
                std::vector<QuotaAdmitter*> all, MayCall may_call = nullptr,
                std::vector<QuotaAdmitter*> advisers = {});

  [[nodiscard]] const std::string& name() const override { return own_.name(); }
  [[nodiscard]] std::vector<std::string> FieldsOf(const api::GroupResource& resource) override;
  base::Task<Answer> Admit(Review review, base::TimePoint deadline) override;

 private:
  using Admitters = std::vector<QuotaAdmitter*>;
  // The admitters that decide the request, in order. None if the own quotas do not limit it.
  [[nodiscard]] Admitters Limiting(const Review& review) const;
  // True if the quotas of another quota API may limit the request.
  [[nodiscard]] bool Concerns(const QuotaAdmitter& other, const Review& review) const;
  base::Task<Answer> AdmitBeside(Review review, base::TimePoint deadline);
  base::Task<Answer> AdmitByAll(Review review, Admitters limiting, base::TimePoint deadline);
  base::Task<std::vector<Answer>> Reserve(Review review, Admitters reserving,
                                          base::TimePoint deadline);

  base::asio::any_io_executor executor_;
  QuotaAdmitter& own_;
  const Admitters all_;
  const MayCall may_call_;
  const Admitters advisers_;
  std::map<api::GroupResource, std::vector<std::string>> fields_;
};

}  // namespace admission
