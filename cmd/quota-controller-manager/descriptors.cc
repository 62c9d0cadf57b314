#include "cmd/quota-controller-manager/descriptors.h"

#include <sys/resource.h>

#include <algorithm>

namespace manager {
namespace {

constexpr std::size_t kUnlimited = std::size_t{1} << 20;
constexpr std::size_t kMostOfWebhook = 2048;
constexpr std::size_t kMostOfEndpoint = 64;
constexpr std::size_t kLeastOfEndpoint = 4;  // a probe, a scrape, and a person who looks

}  // namespace

void RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &limit);  // if it is not allowed, the limit stays as it is
}

std::size_t DescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return kUnlimited;
  return std::min<std::size_t>(limit.rlim_cur, kUnlimited);
}

std::size_t WebhookConnections(std::size_t limit) {
  return std::clamp<std::size_t>(limit / 2, 1, kMostOfWebhook);
}

std::size_t EndpointConnections(std::size_t limit) {
  return std::clamp<std::size_t>(limit / 16, kLeastOfEndpoint, kMostOfEndpoint);
}

}  // namespace manager
