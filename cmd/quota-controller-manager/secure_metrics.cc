#include "cmd/quota-controller-manager/secure_metrics.h"

#include <glog/logging.h>

#include "pkg/base/task_group.h"
#include "pkg/json/value.h"
#include "pkg/webhook/certificate_memory.h"

namespace manager {

base::Result<std::unique_ptr<SecureMetrics>> SecureMetrics::New(base::Scheduler& scheduler,
                                                                client::ApiClient& client,
                                                                AdmissionService* admission,
                                                                const std::string& host) {
  std::unique_ptr<SecureMetrics> metrics(new SecureMetrics(scheduler, client, admission));
  if (admission != nullptr) {
    // Used until the webhook's certificate exists.
    auto first = http::MakeSelfSigned({"localhost"});
    if (!first) return first.error();
    metrics->first_ = std::move(*first);
  } else {
    auto own = webhook::NewMemoryCertificates(scheduler, {host, "localhost"});
    // A machine's name may be invalid in a certificate.
    if (!own) own = webhook::NewMemoryCertificates(scheduler, {"localhost"});
    if (!own) return own.error();
    metrics->own_ = std::move(*own);
    metrics->first_ = {metrics->own_->current()->cert_pem, metrics->own_->current()->key_pem};
  }
  return base::Result<std::unique_ptr<SecureMetrics>>(std::move(metrics));
}

http::ServerTls SecureMetrics::tls() const {
  return {.cert_pem = first_.cert_pem, .key_pem = first_.key_pem, .client_ca_pem = ""};
}

debug::Guard SecureMetrics::guard() {
  return [this](std::string token, std::string path, std::string address) {
    return reviewer_.MayGet(std::move(token), std::move(path), std::move(address));
  };
}

void SecureMetrics::Follow(http::Server& server) {
  const auto serve = [&server](const webhook::CertificateMaterial& material) {
    const auto set = server.SetTls(
        {.cert_pem = material.cert_pem, .key_pem = material.key_pem, .client_ca_pem = ""});
    LOG_IF(ERROR, !set) << "cannot serve the certificate for metrics error="
                        << json::Quote(set.error().message);
  };
  if (admission_ != nullptr) {
    admission_->SetCertificateListener(serve);
  } else {
    own_->SetListener(serve);
  }
}

base::Task<void> SecureMetrics::Run() {
  base::TaskGroup tasks(co_await base::asio::this_coro::executor);
  tasks.Spawn("access reviews", [this] { return reviewer_.Run(); });
  if (own_) tasks.Spawn("own certificate", [this] { return own_->Run(); });
  co_await tasks.JoinOrCancel();
}

}  // namespace manager
