#pragma once

// Our identity for each request: the Authorization header, from a token, a token file, a user name
// and password, or an exec plugin. Client certificates are given to the connections instead.
//
// A caller waits for it until its own deadline, also while a plugin runs. Nothing here is logged.
// No credentials are sent to a server that is not https: for such a server NewCredentialSource()
// returns a source without any. One thread; arguments passed by reference must outlive the source.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pkg/base/asio.h"
#include "pkg/base/error.h"
#include "pkg/base/scheduler.h"
#include "pkg/base/task_group.h"
#include "pkg/client/cluster_config.h"
#include "pkg/client/exec_plugin.h"
#include "pkg/client/tls_material.h"
#include "pkg/client/token_file.h"

namespace client {

struct Credential {
  std::string authorization;     // the header's value; "" for none
  std::uint64_t generation = 0;  // changes with the credential
};

class CredentialSource {
 public:
  virtual ~CredentialSource() = default;
  // Errors: kTimeout at the deadline, besides those of the source.
  virtual base::Task<base::Result<Credential>> Get(base::TimePoint deadline) = 0;
  // The server answered 401 to that credential. Returns true if the next Get() may give a better
  // one.
  virtual bool Reject(std::uint64_t generation) = 0;
  // Ends what still runs. No Get() may follow.
  virtual base::Task<void> Close() { co_return; }
};

class StaticCredentials final : public CredentialSource {
 public:
  explicit StaticCredentials(std::string authorization)
      : authorization_(std::move(authorization)) {}
  base::Task<base::Result<Credential>> Get(base::TimePoint deadline) override;
  bool Reject(std::uint64_t generation) override;

 private:
  std::string authorization_;
};

class TokenFileCredentials final : public CredentialSource {
 public:
  TokenFileCredentials(const base::Clock& clock, TokenFile file)
      : clock_(clock), file_(std::move(file)) {}
  base::Task<base::Result<Credential>> Get(base::TimePoint deadline) override;
  bool Reject(std::uint64_t generation) override;

 private:
  const base::Clock& clock_;
  TokenFile file_;
};

// Runs the plugin if there is no credential, it has expired, or the server rejected it. Callers
// that arrive meanwhile wait for the same run. It goes on after a caller's deadline or
// cancellation, so that a slow plugin serves later callers. Less than `ahead` before the expiry, a
// caller starts the plugin and does not wait for it, at most every ten seconds. A credential that
// has expired when the plugin gives it is used all the same, for ten seconds, because only the
// server's clock counts. The plugin does not run for each request: the error of a run is the answer
// to all callers of the next ten seconds, and of rejections within ten seconds only the first one
// makes it run. REQUIRES on destruction: no plugin runs, as after Close().
class ExecCredentials final : public CredentialSource {
 public:
  using Runner = std::function<base::Task<base::Result<ExecCredential>>()>;
  static constexpr std::chrono::seconds kAhead{60};
  ExecCredentials(base::asio::any_io_executor executor, base::Scheduler& scheduler,
                  TlsMaterial& tls, Runner run, std::chrono::seconds ahead = kAhead)
      : scheduler_(scheduler),
        tls_(tls),
        run_(std::move(run)),
        ahead_(ahead),
        running_(std::move(executor)) {}
  base::Task<base::Result<Credential>> Get(base::TimePoint deadline) override;
  bool Reject(std::uint64_t generation) override;
  base::Task<void> Close() override;

 private:
  struct Flight;  // one run of the plugin and its waiters
  [[nodiscard]] bool Usable() const;
  [[nodiscard]] bool IsDueAhead() const;
  base::Result<void> Accept(ExecCredential fresh);
  void Launch();
  base::Task<void> RunOnce();
  void Land(base::Result<void> result);
  base::Task<base::Result<void>> WaitFor(std::shared_ptr<Flight> flight, base::TimePoint deadline);

  base::Scheduler& scheduler_;
  TlsMaterial& tls_;
  Runner run_;
  std::chrono::seconds ahead_;
  std::shared_ptr<Flight> flight_;      // set while the plugin runs
  base::TimePoint launched_;            // when it last began
  std::optional<base::Error> failure_;  // of its last run
  base::TimePoint failed_until_;        // until then that answers all callers
  base::TimePoint no_rejection_until_;  // until then a rejection changes nothing
  bool known_ = false;
  ExecCredential credential_;
  // Until when a credential that had expired on arrival is used; in the past for others.
  base::TimePoint kept_until_;
  std::uint64_t generation_ = 0;
  base::TaskGroup running_;  // the plugin
};

// The plugin runs on `executor`.
std::unique_ptr<CredentialSource> NewCredentialSource(base::asio::any_io_executor executor,
                                                      base::Scheduler& scheduler, TlsMaterial& tls,
                                                      ClusterConfig config);

}  // namespace client
