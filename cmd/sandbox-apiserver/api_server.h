#pragma once

// The in-memory API server with its sockets, for first runs on a machine without a cluster and for
// tests. Not for production: it keeps everything in memory, and every known user may do everything.
//
// Single-threaded: everything runs on the executor's thread. Run() must have returned before the
// server is destroyed.

#include <memory>
#include <optional>
#include <string>

#include "cmd/sandbox-apiserver/api_handler.h"
#include "pkg/base/scheduler.h"
#include "pkg/base/task_group.h"
#include "pkg/http/server.h"

namespace sandbox {

struct ApiServerOptions {
  http::BindAddress bind{"127.0.0.1", 0};
  bool tls = true;
  std::optional<http::CertificatePair> certificate;  // default: a new self-signed one
  std::string client_ca_pem;                         // "": requests no client certificates
  std::string token;                                 // of the administrator; "": a random one
  ApiHandlerOptions handler;
};

class ApiServer {
 public:
  // Listens at once. Errors: as http::NewServer().
  static base::Result<std::unique_ptr<ApiServer>> New(base::asio::any_io_executor executor,
                                                      ApiServerOptions options);

  // Serves until Stop(), and until the last connection is closed.
  base::Task<void> Run();
  void Stop(std::chrono::milliseconds grace = std::chrono::seconds(2));

  [[nodiscard]] std::uint16_t port() const { return server_->port(); }
  // "https://127.0.0.1:41234".
  [[nodiscard]] std::string url() const;
  [[nodiscard]] const std::string& token() const { return options_.token; }
  // The CA that clients must trust, PEM; "" without TLS.
  [[nodiscard]] std::string ca_pem() const;
  // A kubeconfig, as YAML, with which clients may do everything here.
  [[nodiscard]] std::string Kubeconfig() const;
  // For tests in the same process.
  [[nodiscard]] ApiHandler& handler() { return handler_; }

 private:
  ApiServer(base::asio::any_io_executor executor, ApiServerOptions options);

  ApiServerOptions options_;
  base::RealScheduler scheduler_;
  base::TaskGroup background_;
  ApiHandler handler_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace sandbox
