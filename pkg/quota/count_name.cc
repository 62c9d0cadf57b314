#include "pkg/quota/count_name.h"

#include <algorithm>

namespace quota {

std::string CountName(const api::GroupResource& resource) {
  return std::string(kCountPrefix) + resource.ToString();
}

std::optional<api::GroupResource> ParseCountName(std::string_view name) {
  if (!name.starts_with(kCountPrefix)) return std::nullopt;
  name.remove_prefix(kCountPrefix.size());
  const std::size_t dot = std::min(name.find('.'), name.size());
  const std::string_view group = dot == name.size() ? "" : name.substr(dot + 1);
  api::GroupResource resource{std::string(group), std::string(name.substr(0, dot))};
  // "count/pods." is not a name for the core group's pods; that is "count/pods".
  const bool well_formed = !resource.resource.empty() && (dot == name.size() || !group.empty()) &&
                           name.find('/') == std::string_view::npos;
  if (!well_formed) return std::nullopt;
  return resource;
}

}  // namespace quota
