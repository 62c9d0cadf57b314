// A webhook that allows everything without reading it: the cost of calling a webhook at all.
//
//   allow_everything PORT CERTIFICATE KEY       PEM files; ends by a signal

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "pkg/base/task_group.h"
#include "pkg/http/server.h"

namespace {

std::string ReadFile(const char* path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// The first uid of a review is that of the request: it comes before the object.
std::string UidOf(const std::string& review) {
  constexpr std::string_view kField = R"("uid":")";
  const auto field = review.find(kField);
  if (field == std::string::npos) return "";
  const auto begin = field + kField.size();
  return review.substr(begin, review.find('"', begin) - begin);
}

base::Task<void> Allow(http::Request request, http::ResponseWriter& writer) {
  http::Response response{.status = 200, .headers = {{"Content-Type", "application/json"}}};
  response.body = R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1",)"
                  R"("response":{"uid":")" +
                  UidOf(request.body) + R"(","allowed":true}})";
  co_await writer.Send(std::move(response));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: allow_everything PORT CERTIFICATE KEY\n";
    return 2;
  }
  base::asio::io_context io{1};
  http::ServerOptions options;
  options.port = static_cast<std::uint16_t>(std::atoi(argv[1]));
  options.tls = http::ServerTls{.cert_pem = ReadFile(argv[2]), .key_pem = ReadFile(argv[3])};
  auto server =
      http::NewServer(io.get_executor(), options,
                      [](http::Request request, const http::Peer&, http::ResponseWriter& writer) {
                        return Allow(std::move(request), writer);
                      });
  if (!server) {
    std::cerr << "allow_everything: " << server.error().message << "\n";
    return 1;
  }
  base::TaskGroup tasks(io.get_executor());
  tasks.Spawn("serve", [&server] { return (*server)->Run(); });
  io.run();
  return 0;
}
