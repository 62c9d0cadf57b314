#pragma once

// Decides the requests that the quotas of several quota APIs limit: each admits them, or nothing
// stays reserved.
//
// All quota APIs judge first, which reserves nothing: so what does not fit anyhow costs no write.
// Then they reserve at the same time. If one refuses after all, what the others granted is taken
// back.
//
// The API server calls a webhook of each quota API, side by side and perhaps of different replicas.
// Each call may decide for all: what is reserved for an object is not reserved twice. To spare the
// work, a creation is decided by the call of the first quota API alone, where it is certain that
// there is one.
//
// Single-threaded. What it refers to outlives it.

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
  // True: the API server calls this quota API's webhook for each creation of such an object there.
  using IsAsked = std::function<bool(const std::string& quota_api,
                                     const api::GroupResource& resource, std::string_view ns)>;

  // Answers the webhook of `own`. `all` are the same for each webhook, in the same order.
  // REQUIRES: `own` is one of them.
  JointAdmitter(base::asio::any_io_executor executor, QuotaAdmitter& own,
                std::vector<QuotaAdmitter*> all, IsAsked is_asked = nullptr);

  [[nodiscard]] const std::string& name() const override { return own_.name(); }
  [[nodiscard]] std::vector<std::string> FieldsOf(const api::GroupResource& resource) override;
  base::Task<Answer> Admit(Review review, base::TimePoint deadline) override;

 private:
  using Admitters = std::vector<QuotaAdmitter*>;
  // Those whose quotas may limit the request; in order.
  [[nodiscard]] Admitters Limiting(const Review& review) const;
  [[nodiscard]] bool IsDecidedElsewhere(const Review& review, const Admitters& limiting) const;
  base::Task<Answer> AdmitBeside(Review review, base::TimePoint deadline);
  base::Task<Answer> AdmitByAll(Review review, Admitters limiting, base::TimePoint deadline);
  base::Task<std::vector<Answer>> Reserve(Review review, Admitters reserving,
                                          base::TimePoint deadline);

  base::asio::any_io_executor executor_;
  QuotaAdmitter& own_;
  const Admitters all_;
  const IsAsked is_asked_;
  std::map<api::GroupResource, std::vector<std::string>> fields_;
};

}  // namespace admission
