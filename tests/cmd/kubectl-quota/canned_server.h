#pragma once

// TEST ONLY. A server on loopback that answers one connection after the other with given bytes. An
// empty answer is none: the connection stays open until the end.

#include <string>
#include <thread>
#include <vector>

namespace kubectl_quota_tests {

class CannedServer {
 public:
  explicit CannedServer(std::vector<std::string> answers);
  ~CannedServer();
  CannedServer(const CannedServer&) = delete;
  CannedServer& operator=(const CannedServer&) = delete;

  [[nodiscard]] std::string Url(const std::string& path) const;
  // Returns the head of a request. Waits until all answers are given.
  std::string Asked(std::size_t index);

 private:
  void Serve(const std::vector<std::string>& answers);

  int listener_;
  int port_ = 0;
  std::vector<int> open_;
  std::vector<std::string> asked_;
  std::thread thread_;
};

}  // namespace kubectl_quota_tests
