#include "pkg/webhook/certificate_memory.h"

#include <glog/logging.h>

#include "pkg/webhook/certificate_keyring.h"

namespace webhook {
namespace {

// The pause between two looks. It is short: after the clock was set, nobody can call us until there
// are certificates for the new time.
constexpr base::Duration kWait = std::chrono::seconds(10);

class MemoryCertificates final : public CertificateSource {
 public:
  MemoryCertificates(base::Scheduler& scheduler, std::vector<std::string> hosts,
                     CertificatePolicy policy)
      : CertificateSource(scheduler), hosts_(std::move(hosts)), policy_(policy) {}

  // Takes at most one step, so that callers can learn of a new bundle before the next one.
  base::Result<void> Look() {
    const ClockRange clocks = Clocks();
    const CertificateStep step =
        PlanCertificates(report_.state, clocks, BundleWasPublished(), policy_);
    if (step.action == CertificateAction::kNone) return {};
    if (!MayIssue(step, policy_)) return HeldBack(step);
    auto made = CarryOut(step.action, keyring_, hosts_, clocks, policy_);
    if (!made) return made.error();
    KeyringReport report = Inspect(*made, hosts_);
    if (!report.state.leaf) {
      return base::Error{.code = base::ErrorCode::kInvalidArgument,
                         .message = "the issued certificate is unusable: " + report.trouble};
    }
    LOG(INFO) << "serving certificate: " << ToString(step.action) << ": " << step.reason;
    OnIssued(step);
    keyring_ = std::move(*made);
    report_ = std::move(report);
    Offer({keyring_.cert_pem, keyring_.key_pem, keyring_.ca_pem, report_.state.leaf->not_after});
    return {};
  }

  base::Task<void> Run() override {
    co_await base::DeferCancellation();
    const std::unique_ptr<base::Alarm> alarm = scheduler().NewAlarm();
    for (;;) {
      const base::Result<void> done = Look();
      SetTrouble(done ? "" : done.error().message);
      co_await alarm->WaitUntil(scheduler().Now() + kWait);
      const bool stopping = co_await base::Stopping();
      if (stopping) co_return;
    }
  }

 private:
  std::vector<std::string> hosts_;
  CertificatePolicy policy_;
  Keyring keyring_;
  KeyringReport report_;
};

}  // namespace

base::Result<std::unique_ptr<CertificateSource>> NewMemoryCertificates(
    base::Scheduler& scheduler, std::vector<std::string> hosts, CertificatePolicy policy) {
  auto source = std::make_unique<MemoryCertificates>(scheduler, std::move(hosts), policy);
  if (auto made = source->Look(); !made) return made.error().Wrap("serving certificate");
  return std::unique_ptr<CertificateSource>(std::move(source));
}

}  // namespace webhook
