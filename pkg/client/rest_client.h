#pragma once

// The ApiClient for a real server: prefix path, credentials, impersonation, retries with
// Retry-After, refusals as errors (client-go v0.36.3, rest/request.go).
//
// Guarantees: Do() returns within its request's timeout, including retries and the wait for an exec
// plugin; but a plugin that may ask a user (ClusterConfig::plugin_input) has an hour beside it.
// Stream() returns within it, too, if there are no headers. A write is repeated only if the server
// said that it did nothing. A 401 says so: the credentials are then looked up again, and the
// request is repeated once if there are better ones. So is a read after a failure of TLS, if a file
// of certificates has changed. A watch is never repeated. No secret is logged or part of an error.
//
// Single-threaded. The scheduler, the observer and the reachability must outlive it, and it must
// outlive its streams.
// REQUIRES on destruction: no exec plugin runs, as after Close().

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "pkg/base/asio.h"
#include "pkg/base/error.h"
#include "pkg/base/scheduler.h"
#include "pkg/client/api_client.h"
#include "pkg/client/cluster_config.h"
#include "pkg/client/credentials.h"
#include "pkg/client/reachability.h"
#include "pkg/client/tls_material.h"
#include "pkg/http/client.h"

namespace client {

// One exchange with the server; each retry is another one.
struct Exchange {
  std::string_view verb;
  std::string_view target;  // path and query
  int code = 0;             // the HTTP status; 0: no answer
  base::Duration took{};
  std::size_t sent_bytes = 0;  // of bodies
  std::size_t received_bytes = 0;
  bool streamed = false;  // a watch or a streamed list, of which only the headers have arrived
};

// For the rest_client_… metrics.
class RequestObserver {
 public:
  virtual ~RequestObserver() = default;
  virtual void OnExchange(const Exchange& exchange) = 0;
  // A request is sent again because of an answer with `code`; 0: because there was no answer.
  virtual void OnRetry(std::string_view verb, int code) = 0;
};

struct RestOptions {
  std::string user_agent;                // see UserAgent()
  RequestObserver* observer = nullptr;   // may be null
  Reachability* reachability = nullptr;  // learns how each try ends; may be null
  // Of every request but a watch, with its body, instead of the request's own timeout.
  std::optional<std::chrono::milliseconds> timeout{};
};

// Returns "quota-controller-manager/0.1.0 (linux/amd64)". The server uses the part before the slash
// as the field manager of our writes.
std::string UserAgent(std::string_view version);

class RestClient final : public ApiClient {
 public:
  RestClient(base::asio::any_io_executor executor, base::Scheduler& scheduler,
             std::unique_ptr<http::Client> http, ClusterConfig config, const RestOptions& options);

  base::Task<base::Result<ApiResponse>> Do(ApiRequest request) override;
  base::Task<base::Result<std::unique_ptr<http::BodyStream>>> Stream(ApiRequest request) override;
  // Closes the idle connections, and ends a running exec plugin: no more requests will follow.
  base::Task<void> Close();

 private:
  using Body = std::unique_ptr<http::BodyStream>;
  // The generations of what identified us.
  struct Identity {
    std::uint64_t credential = 0;
    std::uint64_t certificates = 0;
  };
  // A request with all its headers.
  struct Ready {
    http::Request request;
    Identity identity;
    base::TimePoint deadline;  // later by the time in which a user was asked for the credential
  };
  // One try.
  template <typename T>
  using Try = base::Task<base::Result<T>> (RestClient::*)(ApiRequest request, Ready ready);
  // Tries until there is an answer for the caller. A watch is tried once: who watches has a backoff
  // of its own.
  template <typename T>
  base::Task<base::Result<T>> Repeat(ApiRequest request, Try<T> try_once);
  base::Task<base::Result<ApiResponse>> Send(ApiRequest request, Ready ready);
  base::Task<base::Result<Body>> Open(ApiRequest request, Ready ready);
  base::Task<base::Result<Ready>> Authorize(ApiRequest request, base::TimePoint deadline);
  // Adds everything that all requests have, except the credential.
  [[nodiscard]] http::Request Prepare(const ApiRequest& request) const;
  base::Result<ApiResponse> Judge(const ApiRequest& request, http::Response response) const;
  // Looks up again what failed. Returns true if there is something better now.
  bool Renew(const base::Error& error, const Identity& sent);
  // Tells reachability_ of a failed try, and returns its error.
  [[nodiscard]] base::Error Failed(base::Error error) const;
  // Adds to a 401 what is known to be wrong with our identity.
  [[nodiscard]] base::Error Explain(base::Error error) const;
  void Observe(Exchange exchange, base::TimePoint began) const;

  base::Scheduler& scheduler_;
  std::unique_ptr<http::Client> http_;
  TlsMaterial tls_;
  std::unique_ptr<CredentialSource> credentials_;
  http::Url server_;
  http::Headers fixed_headers_;
  bool compress_;
  bool asks_user_;  // an exec plugin may ask a user
  RequestObserver* observer_;
  Reachability* reachability_;
  std::optional<std::chrono::milliseconds> timeout_;
};

// Errors: kInvalidArgument if certificates do not parse or do not match.
base::Result<std::unique_ptr<RestClient>> NewRestClient(base::asio::any_io_executor executor,
                                                        base::Scheduler& scheduler,
                                                        ClusterConfig config,
                                                        const RestOptions& options);

}  // namespace client
