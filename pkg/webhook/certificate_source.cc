#include "pkg/webhook/certificate_source.h"

#include <glog/logging.h>

#include "pkg/api/time.h"
#include "pkg/http/certificate.h"

namespace webhook {
namespace {

// How long the bundle must be stored before a new CA signs the leaf: API servers learn of it by
// their own watches.
constexpr std::chrono::minutes kPublishedFor{2};

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
  const base::WallTime now = WallNow();
  if (now < current_->not_after) return true;
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
  if (trouble == trouble_) return;
  if (!trouble.empty()) {
    LOG(WARNING) << "serving certificate: " << trouble
                 << (current_ ? "; the last good one stays in use" : "");
  } else {
    LOG(INFO) << "serving certificate: recovered";
  }
  trouble_ = trouble;
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
