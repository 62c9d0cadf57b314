#pragma once

// The number of requests by verb, resource and status code, which tests read at /sandbox/requests.
// Values; one thread.

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "cmd/sandbox-apiserver/request_path.h"
#include "pkg/json/value.h"

namespace sandbox {

class RequestCounts {
 public:
  void Add(Verb verb, const ResourcePath& path, int code) {
    ++counts_[{std::string(ToString(verb)), path.gvr.group, path.gvr.resource, path.subresource,
               code}];
  }
  void Clear() { counts_.clear(); }
  // [{"verb":"patch","group":"","resource":"resourcequotas","subresource":"status","code":200,
  //   "count":3}, …]
  [[nodiscard]] json::Value Describe() const {
    json::Array rows;
    for (const auto& [key, count] : counts_) {
      const auto& [verb, group, resource, subresource, code] = key;
      rows.push_back(json::Object{{"verb", verb},
                                  {"group", group},
                                  {"resource", resource},
                                  {"subresource", subresource},
                                  {"code", code},
                                  {"count", count}});
    }
    return rows;
  }

 private:
  using Key = std::tuple<std::string, std::string, std::string, std::string, int>;
  std::map<Key, std::uint64_t> counts_;
};

}  // namespace sandbox
