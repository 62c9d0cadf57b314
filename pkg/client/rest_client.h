#pragma once

// The ApiClient that talks to a real server: prefix path, credentials, impersonation, retries with
// Retry-After, refusals as errors (client-go v0.36.3, rest/request.go).
//
// Promises: Do() returns within its request's timeout, retries included; a write is repeated only
// if the server said that it did nothing; a 401, which says so, makes the credentials be looked up
// anew, and repeats the request once if there are better ones; no secret is logged or part of an
// error.
//
// Single-threaded. The scheduler and the observer outlive it; streams do not outlive it.

#include <cstdint>
#include <memory>
#include <string>

#include "pkg/base/asio.h"
#include "pkg/base/error.h"
#include "pkg/base/scheduler.h"
#include "pkg/client/api_client.h"
#include "pkg/client/cluster_config.h"
#include "pkg/client/credentials.h"
#include "pkg/client/tls_material.h"
#include "pkg/http/client.h"

namespace client {

// One exchange with the server; a retry is another.
struct Exchange {
  std::string_view verb;
  int code = 0;  // the HTTP status; 0: no answer
  base::Duration took{};
  std::size_t sent_bytes = 0;  // bodies
  std::size_t received_bytes = 0;
  bool streamed = false;  // a watch or list of which only the headers have come
};

// For the rest_client_… metrics.
class RequestObserver {
 public:
  virtual ~RequestObserver() = default;
  virtual void OnExchange(const Exchange& exchange) = 0;
  // The request is about to be sent again; `code` is the answer that made it so, 0 without one.
  virtual void OnRetry(std::string_view verb, int code) = 0;
};

struct RestOptions {
  std::string user_agent;               // see UserAgent()
  RequestObserver* observer = nullptr;  // may be absent
};

// "quota-controller-manager/0.1.0 (linux/amd64)". What stands before the slash is what the server
// names as the field manager of our writes.
std::string UserAgent(std::string_view version);

class RestClient final : public ApiClient {
 public:
  RestClient(base::asio::any_io_executor executor, base::Scheduler& scheduler,
             std::unique_ptr<http::Client> http, ClusterConfig config, const RestOptions& options);

  base::Task<base::Result<ApiResponse>> Do(ApiRequest request) override;
  base::Task<base::Result<std::unique_ptr<http::BodyStream>>> Stream(ApiRequest request) override;
  // Closes the connections kept for later requests: nothing more will be asked.
  void CloseIdle() { http_->CloseIdle(); }

 private:
  struct Attempt {
    base::Result<ApiResponse> answer;
    std::uint64_t generation = 0;  // of the credential it was sent with
  };
  // Adds what every request carries but the credential.
  [[nodiscard]] http::Request Prepare(const ApiRequest& request) const;
  base::Task<base::Result<Credential>> Authorize();
  base::Task<Attempt> Send(ApiRequest request, base::Duration timeout);
  base::Result<ApiResponse> Judge(const ApiRequest& request, http::Response response) const;
  void Observe(Exchange exchange, base::TimePoint began) const;

  base::Scheduler& scheduler_;
  std::unique_ptr<http::Client> http_;
  TlsMaterial tls_;
  std::unique_ptr<CredentialSource> credentials_;
  http::Url server_;
  http::Headers fixed_headers_;
  bool compress_;
  RequestObserver* observer_;
};

// Errors: kInvalidArgument for certificates that do not parse or do not match.
base::Result<std::unique_ptr<RestClient>> NewRestClient(base::asio::any_io_executor executor,
                                                        base::Scheduler& scheduler,
                                                        ClusterConfig config,
                                                        const RestOptions& options);

}  // namespace client
