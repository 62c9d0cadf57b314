#pragma once

// Internal to pkg/http. Resolves a host name within a deadline.

#include <memory>
#include <string>
#include <vector>

#include "pkg/http/socket.h"

namespace http {

// Resolves one name, for any number of callers. The system's look-ups run one after the other, and
// cannot be interrupted. So callers at the same time share one: otherwise, while each takes a few
// seconds (the first name server is down), those of callers that gave up would delay all others.
class Resolver {
 public:
  Resolver(std::string host, std::uint16_t port) : host_(std::move(host)), port_(port) {}

  // Returns at least one endpoint, in the system's order. An IP address resolves to itself without
  // waiting. Errors: kUnavailable naming host and port, kTimeout, kCancelled.
  base::Task<base::Result<std::vector<Tcp::endpoint>>> Resolve(base::TimePoint deadline);

 private:
  struct LookUp;
  std::shared_ptr<LookUp> Join(const base::asio::any_io_executor& executor);

  std::string host_;
  std::uint16_t port_;
  std::weak_ptr<LookUp> running_;
};

}  // namespace http
