#pragma once

// The CA that must have signed the client certificates of callers (--admission-client-ca). The PEM
// file is read every ten seconds. If it contains no certificate, or only expired ones, the last
// valid CA stays in use, and this is logged once.
//
// A changed CA applies to new connections. Open ones end within minutes by their age.
//
// Single-threaded. The scheduler, and what the listener refers to, outlive it.

#include <functional>
#include <memory>
#include <string>

#include "pkg/base/asio.h"
#include "pkg/base/error.h"
#include "pkg/base/scheduler.h"

namespace webhook {

class ClientAuthority {
 public:
  // Errors: kInvalidArgument with the file and the reason.
  static base::Result<std::unique_ptr<ClientAuthority>> New(base::Scheduler& scheduler,
                                                            std::string path);
  ClientAuthority(const ClientAuthority&) = delete;
  ClientAuthority& operator=(const ClientAuthority&) = delete;

  [[nodiscard]] const std::string& pem() const { return pem_; }
  // Called when pem() has changed.
  void SetListener(std::function<void()> listener) { listener_ = std::move(listener); }
  // Rereads the file until cancelled.
  base::Task<void> Run();

 private:
  ClientAuthority(base::Scheduler& scheduler, std::string path)
      : scheduler_(scheduler), path_(std::move(path)) {}
  [[nodiscard]] base::Result<std::string> Read() const;
  void Look();

  base::Scheduler& scheduler_;
  const std::string path_;
  std::string pem_;
  std::string trouble_;  // logged already
  std::function<void()> listener_;
};

}  // namespace webhook
