#include "pkg/webhook/certificate_source.h"

#include <glog/logging.h>

#include <algorithm>

#include "pkg/api/time.h"
#include "pkg/http/certificate.h"

namespace webhook {
namespace {

// How long the bundle must be stored before a new CA signs the leaf: API servers learn of it by
// their own watches.
constexpr std::chrono::minutes kPublishedFor{2};
// Nothing is issued twice for the same reason within this time.
constexpr std::chrono::seconds kIssueAgain{3600};
// How often different clocks are logged.
constexpr std::chrono::hours kSayClocks{1};

}  // namespace

void CertificateSource::SetListener(Listener listener) {
  listener_ = std::move(listener);
  if (current_ && listener_) listener_(*current_);
}

bool CertificateSource::Ready(std::string* why) const {
  if (!current_) {
    *why = trouble_.empty() ? "no certificate yet" : "no certificate: " + trouble_;
    return false;
  }
  // An API server whose clock is ahead may refuse it. Others do not, so this replica must stay.
  if (Clocks().earliest < current_->not_after) return true;
  *why = "the certificate has expired at " + api::FormatTime(current_->not_after);
  if (!trouble_.empty()) *why += ": " + trouble_;
  return false;
}

std::optional<base::WallTime> CertificateSource::not_after() const {
  if (!current_) return std::nullopt;
  return current_->not_after;
}

void CertificateSource::Offer(CertificateMaterial material) {
  if (current_ && current_->cert_pem == material.cert_pem &&
      current_->key_pem == material.key_pem && current_->ca_bundle_pem == material.ca_bundle_pem) {
    return;
  }
  // A changed bundle must be stored for two minutes again.
  if (!current_ || current_->ca_bundle_pem != material.ca_bundle_pem) published_since_.reset();
  current_ = std::move(material);
  LOG(INFO) << "serving certificate in use until=" << api::FormatTime(current_->not_after);
  if (listener_) listener_(*current_);
}

void CertificateSource::SetTrouble(const std::string& trouble) {
  trouble_ = trouble;
  if (trouble.empty()) {
    if (told_.Solve()) LOG(INFO) << "serving certificate: recovered";
  } else if (told_.Meet(trouble, scheduler_.Now())) {
    LOG(ERROR) << "serving certificate: " << trouble
               << (current_ ? "; the last good one stays in use" : "");
  }
}

void CertificateSource::SeeClock(base::WallTime servers) {
  const base::TimePoint now = scheduler_.Now();
  const auto ahead = servers - scheduler_.WallNow();
  const SeenClocks::Seen seen = clocks_.See(now, ahead);
  if (seen == SeenClocks::Seen::kSame) return;
  if (said_clocks_ && now - *said_clocks_ < kSayClocks) return;
  said_clocks_ = now;
  LOG(WARNING) << "serving certificate: an API server's clock differs from ours by seconds="
               << std::chrono::duration_cast<std::chrono::seconds>(ahead).count()
               << (seen == SeenClocks::Seen::kDiffers
                       ? "; certificates are made for both"
                       : ", which is not believed; certificates are made for ours");
}

bool CertificateSource::MayIssue(const CertificateStep& step,
                                 const CertificatePolicy& policy) const {
  std::string unused;
  if (!Ready(&unused)) return true;
  const auto issued = issued_.find(step.reason);
  const std::chrono::seconds pause = std::min(kIssueAgain, policy.leaf_life / 20);
  return issued == issued_.end() || scheduler_.Now() - issued->second >= pause;
}

base::Error CertificateSource::HeldBack(const CertificateStep& step) const {
  std::string message(
      "nothing is issued, because that was done within an hour for the same reason (");
  message.append(step.reason).append("): clocks differ, or somebody changes what was issued");
  return {.code = base::ErrorCode::kUnavailable, .message = std::move(message)};
}

bool CertificateSource::BundleWasPublished() {
  if (!published_) return true;
  if (!current_ || !published_(current_->ca_bundle_pem)) {
    published_since_.reset();
    return false;
  }
  const base::TimePoint now = scheduler_.Now();
  if (!published_since_) published_since_ = now;
  return now - *published_since_ >= kPublishedFor;
}

}  // namespace webhook
