#include "controllers/quota/writer_keys.h"

namespace controllers {

// Quotas that are gone are forgotten with all others, and those that remain learned anew.
std::string WriterKeys::Of(std::string_view ns, const std::vector<api::ObjectKey>& quotas,
                           std::size_t all) {
  const bool reached = !quotas.empty() && quotas.back().ns.empty();
  if (!reached) return std::string(ns);
  if (above_.size() > 2 * all) above_.clear();
  const std::string first = First(quotas.back().name);
  for (const api::ObjectKey& quota : quotas) {
    const std::string& other = First(quota.name);
    if (other != first) above_.find(other)->second = first;
  }
  return "/" + first;
}

const std::string& WriterKeys::First(const std::string& quota) {
  auto at = above_.try_emplace(quota, quota).first;
  while (at->second != at->first) {
    const auto next = above_.find(at->second);
    at->second = next->second;  // a shorter way for those who come later
    at = next;
  }
  return at->first;
}

}  // namespace controllers
