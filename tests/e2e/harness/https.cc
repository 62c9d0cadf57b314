#include "tests/e2e/harness/https.h"

#include <boost/asio/io_context.hpp>
#include <stdexcept>

#include "pkg/base/task_group.h"
#include "pkg/http/client.h"
#include "tests/e2e/harness/files.h"
#include "tests/e2e/harness/process.h"
#include "tests/e2e/harness/wait.h"

namespace e2e {
namespace {

http::ClientOptions OptionsOf(const HttpsCall& call) {
  http::ClientOptions options;
  options.server = {.scheme = "https", .host = "127.0.0.1", .port = call.port};
  options.tls.ca_pem = call.ca_pem;
  options.tls.insecure = call.ca_pem.empty();
  options.tls.server_name = call.server_name;
  if (call.client != nullptr) {
    options.tls.cert_pem = ReadFile(call.client->cert_path);
    options.tls.key_pem = ReadFile(call.client->key_path);
  }
  return options;
}

}  // namespace

HttpsAnswer Call(const HttpsCall& call) {
  base::asio::io_context io{1};
  auto client = http::NewClient(io.get_executor(), OptionsOf(call));
  if (!client) throw std::runtime_error(client.error().message);
  HttpsAnswer answer;
  base::TaskGroup group(io.get_executor());
  const auto ask = [&]() -> base::Task<void> {
    http::Request request{
        .method = call.method, .target = call.path, .headers = call.headers, .body = call.body};
    const auto timeout = Patience();
    auto response = co_await (*client)->Do(std::move(request), timeout);
    if (response) {
      answer.status = response->status;
      answer.body = std::move(response->body);
      answer.headers = std::move(response->headers);
    } else {
      answer.error = response.error().message;
    }
  };
  group.Spawn("https call", ask);
  while (!group.empty() && io.run_one() > 0) {
  }
  return answer;
}

bool ShakesHands(std::uint16_t port, const std::string& version) {
  const std::string command =
      "exec " + FindProgram("openssl") + " s_client " + version +
      " -cipher DEFAULT@SECLEVEL=0 -connect 127.0.0.1:" + std::to_string(port) + " </dev/null";
  const auto result = RunProgram({.argv = {"/bin/bash", "-c", command}}, Stretched(15s));
  return result.output.find("Cipher is (NONE)") == std::string::npos &&
         result.output.find("Cipher is ") != std::string::npos;
}

}  // namespace e2e
