#pragma once

// TEST ONLY. A RestClient with a scripted server, in virtual time.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pkg/client/rest_client.h"
#include "tests/pkg/client/print_result.h"
#include "tests/pkg/client/scripted_http.h"

namespace client::rest_testing {

using namespace std::chrono_literals;

class Recorder final : public RequestObserver {
 public:
  void OnExchange(const Exchange& exchange) override {
    lines.push_back(std::string(exchange.verb) + " " + std::to_string(exchange.code) +
                    (exchange.streamed ? " streamed" : ""));
    targets.emplace_back(exchange.target);
  }
  void OnRetry(std::string_view verb, int code) override {
    lines.push_back("retry " + std::string(verb) + " " + std::to_string(code));
  }
  std::vector<std::string> lines;
  std::vector<std::string> targets;
};

struct Fixture {
  base::asio::io_context io;
  base::ManualScheduler scheduler{io};
  HttpScript script;
  Recorder recorder;
  Reachability reachability{scheduler};
  ClusterConfig config;
  std::optional<std::chrono::milliseconds> timeout;
  std::unique_ptr<RestClient> client;

  Fixture() { config.server = http::ParseUrl("https://h:6443").value(); }

  RestClient& Client() {
    if (!client) {
      client = std::make_unique<RestClient>(
          io.get_executor(), scheduler, std::make_unique<ScriptedHttp>(script), config,
          RestOptions{UserAgent("0.1.0"), &recorder, &reachability, timeout});
    }
    return *client;
  }
  Running<base::Result<ApiResponse>> Start(ApiRequest request) {
    return {io, [&rest = Client(), request = std::move(request)] { return rest.Do(request); }};
  }
  base::Result<ApiResponse> Do(ApiRequest request, base::Duration time = 0s) {
    const auto running = Start(std::move(request));
    scheduler.RunFor(time);
    REQUIRE(running.done());
    return running.value();
  }
  // The first piece of a streamed answer.
  base::Result<std::string> Read(ApiRequest request, base::Duration time = 0s) {
    const Running<base::Result<std::string>> running(
        io, [&rest = Client(), request = std::move(request)] { return ReadFrom(rest, request); });
    scheduler.RunFor(time);
    return running.value();
  }

 private:
  static base::Task<base::Result<std::string>> ReadFrom(RestClient& rest, ApiRequest request) {
    auto stream = co_await rest.Stream(std::move(request));
    if (!stream) co_return stream.error();
    auto part = co_await (*stream)->Read(1s);
    if (!part) co_return part.error();
    co_return part->value_or("");
  }
};

}  // namespace client::rest_testing
