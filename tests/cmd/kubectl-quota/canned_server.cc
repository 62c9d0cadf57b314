#include "tests/cmd/kubectl-quota/canned_server.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <utility>

namespace kubectl_quota_tests {

CannedServer::CannedServer(std::vector<std::string> answers)
    : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* any = reinterpret_cast<sockaddr*>(&address);
  REQUIRE(::bind(listener_, any, size) == 0);
  REQUIRE(::listen(listener_, 16) == 0);
  REQUIRE(::getsockname(listener_, any, &size) == 0);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this, answers = std::move(answers)] { Serve(answers); });
}

CannedServer::~CannedServer() {
  ::shutdown(listener_, SHUT_RDWR);  // ends accept()
  if (thread_.joinable()) thread_.join();
  for (const int connection : open_) ::close(connection);
  ::close(listener_);
}

std::string CannedServer::Url(const std::string& path) const {
  return "http://127.0.0.1:" + std::to_string(port_) + path;
}

std::string CannedServer::Asked(std::size_t index) {
  if (thread_.joinable()) thread_.join();
  return asked_.at(index);
}

void CannedServer::Serve(const std::vector<std::string>& answers) {
  for (const std::string& answer : answers) {
    const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) return;
    open_.push_back(connection);
    std::string head;
    std::array<char, 4096> buffer{};
    while (head.find("\r\n\r\n") == std::string::npos) {
      const ssize_t count = ::read(connection, buffer.data(), buffer.size());
      if (count <= 0) break;
      head.append(buffer.data(), static_cast<std::size_t>(count));
    }
    asked_.push_back(std::move(head));
    if (answer.empty()) continue;
    std::size_t sent = 0;
    while (sent < answer.size()) {
      const ssize_t count =
          ::send(connection, answer.data() + sent, answer.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) break;
      sent += static_cast<std::size_t>(count);
    }
    ::shutdown(connection, SHUT_WR);
  }
}

}  // namespace kubectl_quota_tests
