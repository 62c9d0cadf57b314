// What does one review cost the webhook itself: TLS, HTTP, parsing and answering, with an admitter
// that allows everything? The server runs on its own thread, so that its CPU time is separate from
// that of the clients, which keep their connections like an API server.
//
//   review_cost [requests] [connections]

#include <sys/resource.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "pkg/http/client.h"
#include "pkg/http/server.h"
#include "pkg/webhook/handler.h"
#include "tests/pkg/admission/sample_reviews.h"

namespace {

using base::Task;
using Micros = std::chrono::duration<double, std::micro>;

class Allower final : public admission::Admitter {
 public:
  [[nodiscard]] std::vector<std::string> quota_apis() const override { return {"core"}; }
  // The same fields as for pods.
  [[nodiscard]] std::vector<std::string> FieldsOf(const api::GroupResource&) override {
    return {"spec.containers.resources",
            "spec.containers.name",
            "spec.initContainers.resources",
            "spec.initContainers.restartPolicy",
            "spec.overhead",
            "spec.resources",
            "spec.activeDeadlineSeconds",
            "spec.priorityClassName",
            "spec.affinity.podAffinity",
            "spec.affinity.podAntiAffinity",
            "status.phase",
            "status.containerStatuses.resources",
            "status.initContainerStatuses"};
  }
  Task<admission::Answer> Admit(admission::Review, base::TimePoint) override {
    co_return admission::Answer{};
  }
};

struct Cost {
  Micros user{};
  Micros system{};
};

Cost ThreadCost() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  const auto micros = [](const timeval& time) {
    return Micros(static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec));
  };
  return {micros(usage.ru_utime), micros(usage.ru_stime)};
}

// Asks one request after another until all are asked.
Task<void> Ask(http::Client& client, const std::string& body, int& left, int& failed) {
  while (left-- > 0) {
    http::Request request;
    request.method = "POST";
    request.target = "/validate/core?timeout=10s";
    request.headers = {{"User-Agent", "kube-apiserver-admission"},
                       {"Accept", "application/json"},
                       {"Content-Type", "application/json"},
                       {"Accept-Encoding", "gzip"}};
    request.body = body;
    const auto response = co_await client.Do(std::move(request), std::chrono::seconds(10));
    if (!response || response->status != 200) ++failed;
  }
}

// Returns the number of requests that were not answered 200.
int RunClients(const http::Url& server, const std::string& ca, const std::string& body,
               int requests, int connections) {
  base::asio::io_context io{1};
  http::ClientOptions options;
  options.server = server;
  options.tls.ca_pem = ca;
  options.gzip = false;
  std::vector<std::unique_ptr<http::Client>> clients;
  int failed = 0;
  int running = connections;
  for (int i = 0; i < connections; ++i) {
    clients.push_back(http::NewClient(io.get_executor(), options).value());
    base::asio::co_spawn(
        io, [&, i] { return Ask(*clients[static_cast<std::size_t>(i)], body, requests, failed); },
        [&](const std::exception_ptr&) {
          if (--running == 0) io.stop();  // idle connections would keep it for a while
        });
  }
  io.run();
  return failed;
}

void MeasureServer(const char* what, bool tls, const std::string& body, int requests,
                   int connections) {
  base::asio::io_context io{1};
  const base::RealClock clock;
  Allower allower;
  http::ServerOptions options = webhook::WebhookServerOptions();
  const http::CertificatePair pair = http::MakeSelfSigned({"127.0.0.1"}).value();
  if (tls) options.tls = http::ServerTls{.cert_pem = pair.cert_pem, .key_pem = pair.key_pem};
  auto server = http::NewServer(io.get_executor(), options,
                                webhook::NewHandler(allower, admission::NoObserver(), clock))
                    .value();
  const http::Url url{
      .scheme = tls ? "https" : "http", .host = "127.0.0.1", .port = server->port()};
  Cost cost;
  std::thread thread([&] {
    base::asio::co_spawn(
        io, [&] { return server->Run(); }, base::asio::detached);
    io.run();
    cost = ThreadCost();
  });
  const auto begun = std::chrono::steady_clock::now();
  const int failed = RunClients(url, pair.cert_pem, body, requests, connections);
  const Micros took = std::chrono::steady_clock::now() - begun;
  base::asio::post(io, [&] { server->Stop(std::chrono::milliseconds(0)); });
  thread.join();
  std::printf(
      "%-28s %6zu bytes: %5.1f us of processor (user %5.1f, system %5.1f), %6.0f/s, %d failed\n",
      what, body.size(), (cost.user + cost.system).count() / requests, cost.user.count() / requests,
      cost.system.count() / requests, requests / took.count() * 1e6, failed);
}

void MeasureParse(const char* what, const std::string& body) {
  constexpr int kRounds = 20'000;
  Allower allower;
  const auto fields_of = [&](const api::GroupResource& r) { return allower.FieldsOf(r); };
  admission::ReviewParser parser;
  const Cost before = ThreadCost();
  for (int i = 0; i < kRounds; ++i) {
    if (!parser.Parse(body, fields_of)) std::abort();
  }
  const Cost after = ThreadCost();
  std::printf("%-28s %6zu bytes: %5.1f us of processor\n", what, body.size(),
              (after.user - before.user).count() / kRounds);
}

}  // namespace

int main(int count, char** arguments) {
  const int requests = count > 1 ? std::atoi(arguments[1]) : 20'000;
  const int connections = count > 2 ? std::atoi(arguments[2]) : 16;
  const std::string creation = admission::test::ReviewText({});
  const std::string update = admission::test::ReviewText(
      {.operation = "UPDATE", .old_object = admission::test::PodText("registry.example/web:0")});
  MeasureParse("parse a creation", creation);
  MeasureParse("parse an update", update);
  MeasureServer("creation, plain HTTP", false, creation, requests, connections);
  MeasureServer("creation, TLS", true, creation, requests, connections);
  MeasureServer("update, TLS", true, update, requests, connections);
  return 0;
}
