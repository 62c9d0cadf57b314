#include "pkg/client/discovery.h"

#include <algorithm>
#include <utility>

namespace client {
namespace {

using base::Error;
using base::ErrorCode;
using base::Result;

// Old servers compare this header literally, so the order of the parameters matters.
constexpr std::string_view kAcceptAggregated =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
constexpr std::chrono::seconds kTimeout{32};
// Names of all kinds: 2 kB for each CRD.
constexpr std::size_t kMostBytes = std::size_t{32} << 20;
// One group version whose server does not answer must not use up the time of the others.
constexpr std::chrono::seconds kVersionTimeout{10};

std::string PathOf(const GroupVersion& version) {
  return version.group.empty() ? "/api/" + version.version
                               : "/apis/" + version.group + "/" + version.version;
}

ApiRequest Get(std::string path, std::chrono::milliseconds timeout) {
  ApiRequest request;
  request.path = std::move(path);
  request.timeout = timeout;
  request.max_answer_bytes = kMostBytes;
  return request;
}

// A failure for one group version concerns only that version. These errors concern the server
// itself.
bool ConcernsServer(const Error& error) {
  const bool no_answer =
      error.http_status == 0 && !error.Is(ErrorCode::kMalformed) && !error.Is(ErrorCode::kTimeout);
  return no_answer || error.Is(ErrorCode::kUnauthorized);
}

// `may_lack`: a 404 means that there are none. An aggregated API server has no core group.
base::Task<Result<std::vector<GroupVersion>>> LegacyVersions(ApiClient& client, std::string path,
                                                             bool may_lack) {
  Result<json::Value> list = co_await DoJson(client, Get(path, kTimeout));
  if (!list && may_lack && list.error().Is(ErrorCode::kNotFound)) {
    co_return std::vector<GroupVersion>();
  }
  if (!list) co_return list.error();
  co_return DecodeLegacyVersions(*list);
}

base::Task<Result<Discovered>> LegacyLook(ApiClient& client, bool may_lack_core) {
  Result<std::vector<GroupVersion>> versions =
      co_await LegacyVersions(client, "/api", may_lack_core);
  if (!versions) co_return versions.error();
  Result<std::vector<GroupVersion>> others = co_await LegacyVersions(client, "/apis", false);
  if (!others) co_return others.error();
  versions->insert(versions->end(), others->begin(), others->end());
  Discovered discovered;
  for (const GroupVersion& version : *versions) {
    Result<json::Value> list = co_await DoJson(client, Get(PathOf(version), kVersionTimeout));
    // One failed group version must not fail the others.
    if (!list && ConcernsServer(list.error())) co_return list.error();
    Result<std::vector<ApiResource>> resources = Error{};
    if (list) resources = DecodeLegacyResources(*list, version);
    if (!resources) {
      discovered.failed.push_back(version);
      continue;
    }
    for (ApiResource& resource : *resources) discovered.resources.push_back(std::move(resource));
  }
  co_return discovered;
}

Discovered Join(Discovered first, const Discovered& second) {
  first.resources.insert(first.resources.end(), second.resources.begin(), second.resources.end());
  first.failed.insert(first.failed.end(), second.failed.begin(), second.failed.end());
  return first;
}

}  // namespace

// True: `endpoint` is up to date. False: the server does not support the aggregated form.
base::Task<Result<bool>> Discovery::Ask(std::string path, Endpoint& endpoint) {
  ApiRequest request = Get(path, kTimeout);
  request.accept = kAcceptAggregated;
  request.if_none_match = endpoint.etag;
  Result<ApiResponse> answer = co_await client_.Do(std::move(request));
  if (!answer && path == "/api" && !has_core_ && answer.error().Is(ErrorCode::kNotFound)) {
    co_return true;
  }
  // 406 Not Acceptable: some servers refuse a form that they do not know.
  if (!answer && answer.error().http_status == 406) co_return false;
  if (!answer) co_return answer.error();
  if (answer->status == 304) co_return true;
  if (!IsAggregated(answer->headers.Get("Content-Type"))) co_return false;
  Result<json::Value> list = json::Parse(answer->body);
  if (!list) co_return list.error().Wrap("GET " + path);
  Result<Discovered> decoded = DecodeAggregated(*list);
  if (!decoded) co_return decoded.error().Wrap("GET " + path);
  endpoint.etag = answer->headers.Get("ETag");
  endpoint.said = std::move(*decoded);
  co_return true;
}

base::Task<Result<Discovered>> Discovery::Look() {
  Result<bool> core = co_await Ask("/api", core_);
  if (!core) co_return core.error().Wrap("discovery");
  Result<bool> groups = true;
  // The older form is read from both paths, so /apis need not be asked then.
  if (*core) groups = co_await Ask("/apis", groups_);
  if (!groups) co_return groups.error().Wrap("discovery");
  Discovered discovered;
  if (*core && *groups) {
    discovered = Join(core_.said, groups_.said);
  } else {
    Result<Discovered> legacy = co_await LegacyLook(client_, !has_core_);
    if (!legacy) co_return legacy.error().Wrap("discovery");
    discovered = std::move(*legacy);
  }
  MarkPreferred(discovered.resources);
  has_core_ = has_core_ || std::ranges::any_of(discovered.resources, [](const ApiResource& one) {
                return one.gvr.group.empty();
              });
  co_return discovered;
}

base::Task<Result<Discovered>> DiscoverResources(ApiClient& client) {
  Discovery discovery(client);
  Result<Discovered> discovered = co_await discovery.Look();
  co_return discovered;
}

}  // namespace client
