#pragma once

// The CA by which callers of the webhook are known (--admission-client-ca): a PEM file, read again
// every ten seconds by content. What is no certificate, or only ones that have ended, changes
// nothing: the last good CA stays in use, and that is said once.
//
// A changed CA judges new connections; those that stand end by their age, within minutes.
//
// Single-threaded. The scheduler, and what the listener refers to, outlive it.

#include <functional>
#include <memory>
#include <string>

#include "pkg/base/asio.h"
#include "pkg/base/error.h"
#include "pkg/base/scheduler.h"

namespace admission {

class ClientAuthority {
 public:
  // Errors: kInvalidArgument, naming the file and what is wrong with it.
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
  std::string trouble_;  // said already
  std::function<void()> listener_;
};

}  // namespace admission
