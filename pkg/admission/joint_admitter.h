#pragma once

// Decides requests that several quota APIs limit. Either all admit the request, or nothing stays
// reserved.
//
// First all quota APIs judge, which reserves nothing: a request that does not fit costs no write.
// Then all reserve at the same time. If one refuses after all, the others withdraw their grants.
//
// The API server calls one webhook for each quota API, side by side and perhaps on different
// replicas. Each call may decide for all, because nothing is reserved twice for an object. To avoid
// double work, only the call of the first quota API decides a creation, if it is certain that this
// call is made. The replica that leaves a creation to that call may know quotas that the other
// replica does not know yet. So the first call decides for the quota APIs after its own, even if
// its own limits nothing.
//
// If the quotas of another quota API cannot be read, the request waits for them and fails, except
// if the API server does not call that quota API's webhook for the resource: then none of its
// quotas is enforced for it.
//
// Single-threaded. Constructor arguments must outlive it.

#include <cstdint>
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
  // Whether the API server calls the webhook of `quota_api` for requests for this resource in `ns`.
  enum class Called : std::uint8_t {
    kNo,
    kUnknown,
    kYes,  // certainly for each creation
  };
  using IsCalled = std::function<Called(const std::string& quota_api,
                                        const api::GroupResource& resource, std::string_view ns)>;

  // Answers the webhook of `own`. All webhooks get the same `all`, in the same order. REQUIRES:
  // `own` is one of them.
  JointAdmitter(base::asio::any_io_executor executor, QuotaAdmitter& own,
                std::vector<QuotaAdmitter*> all, IsCalled is_called = nullptr);

  [[nodiscard]] const std::string& name() const override { return own_.name(); }
  [[nodiscard]] std::vector<std::string> FieldsOf(const api::GroupResource& resource) override;
  base::Task<Answer> Admit(Review review, base::TimePoint deadline) override;

 private:
  using Admitters = std::vector<QuotaAdmitter*>;
  // The admitters whose quotas may limit the request; in order.
  [[nodiscard]] Admitters Limiting(const Review& review) const;
  [[nodiscard]] Called CalledFor(const QuotaAdmitter& admitter, const Review& review) const;
  [[nodiscard]] bool IsDecidedElsewhere(const Review& review) const;
  void KeepOwn(const Review& review, Admitters& limiting) const;
  base::Task<Answer> AdmitBeside(Review review, base::TimePoint deadline);
  base::Task<Answer> AdmitByAll(Review review, Admitters limiting, base::TimePoint deadline);
  base::Task<std::vector<Answer>> Reserve(Review review, Admitters reserving,
                                          base::TimePoint deadline);

  base::asio::any_io_executor executor_;
  QuotaAdmitter& own_;
  const Admitters all_;
  const IsCalled is_called_;
  std::map<api::GroupResource, std::vector<std::string>> fields_;
};

}  // namespace admission
