#pragma once

// The tests' own access to an API server: pkg/client's RestClient behind blocking calls. Calls that
// must succeed return their answer or throw; Do() is for those that may fail.
//
// One thread.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/base/error.h"
#include "pkg/client/api_client.h"
#include "pkg/json/value.h"
#include "tests/e2e/harness/wait.h"

namespace e2e {

// PathOf("pods", "a") is /api/v1/namespaces/a/pods. Knows the groups of all resources in the tests.
std::string PathOf(std::string_view resource, std::string_view ns = {}, std::string_view name = {},
                   std::string_view subresource = {});

json::Value Json(std::string_view text);  // throws if it does not parse
class Api;
// 36 for Kubernetes 1.36. Parts of scenarios ask for it; a whole scenario that needs 1.34 has the
// tag [since-1.34], one that an older server should pass, too, [server].
int MinorVersion(Api& api);
// Posts the object, and returns the body of the answer whatever its code is: the Status of a
// refusal as any client gets it.
json::Value BodyOfPost(const std::string& kubeconfig_path, const std::string& path,
                       const json::Value& object);
// Waits until a list of this path is answered. Each try ends after five seconds: under load,
// kube-apiserver once left the first list of a new kind unanswered for 30 s.
void WaitServed(Api& api, const std::string& path, std::chrono::milliseconds timeout = Patience());

struct Connection;

class Api {
 public:
  explicit Api(const std::string& kubeconfig_path);
  ~Api();

  base::Result<client::ApiResponse> Do(client::ApiRequest request);
  // Sends all of them, `parallel` at a time, in no particular order.
  std::vector<base::Result<client::ApiResponse>> DoAll(std::vector<client::ApiRequest> requests,
                                                       std::size_t parallel);

  json::Value Create(const std::string& path, const json::Value& object);
  json::Value Get(const std::string& path);
  json::Value MergePatch(const std::string& path, const json::Value& patch);
  // Deletes with grace period 0. A missing object is not an error.
  void Delete(const std::string& path);
  bool Exists(const std::string& path);

 private:
  json::Value Must(client::ApiRequest request);
  std::unique_ptr<Connection> connection_;
};

}  // namespace e2e
