#pragma once

// Acts as a Service for the API server: one address in front of the ready replicas. New connections
// go to them in turn; existing ones stay, and end when one of their ends closes.
//
// Runs on its own thread; the functions may be called from the test's thread.

#include <cstdint>
#include <memory>
#include <vector>

namespace e2e {

class LoadBalancer {
 public:
  LoadBalancer();
  ~LoadBalancer();
  LoadBalancer(const LoadBalancer&) = delete;
  LoadBalancer& operator=(const LoadBalancer&) = delete;

  [[nodiscard]] std::uint16_t port() const;
  // For new connections.
  void SetTargets(std::vector<std::uint16_t> ports);

 private:
  class Thread;
  std::unique_ptr<Thread> thread_;
};

}  // namespace e2e
