#pragma once

// What a Service is to the API server: one address, behind it whichever replicas are said to be
// ready. New connections go to them in turn; those that stand are left alone, and end as their ends
// end them.
//
// Runs on a thread of its own; the functions may be called from the test's thread.

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
  // From now on.
  void SetTargets(std::vector<std::uint16_t> ports);

 private:
  class Thread;
  std::unique_ptr<Thread> thread_;
};

}  // namespace e2e
