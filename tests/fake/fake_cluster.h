#pragma once

// TEST ONLY. An API server in virtual time, as informers and controllers see one: objects with
// versions, lists, watches that resume, guarded writes, and faults. It is small on purpose:
// the e2e tests cover what a real server does with an object.

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "pkg/api/resource.h"
#include "pkg/base/scheduler.h"
#include "pkg/client/api_client.h"
#include "pkg/json/value.h"

namespace fake {

class FakeCluster final : public client::ApiClient {
 public:
  explicit FakeCluster(base::Scheduler& scheduler) : scheduler_(scheduler) {}

  // From now on the resource is served and discovered.
  void Serve(const api::GroupVersionResource& resource, const std::string& kind,
             bool namespaced = true);
  void StopServing(const api::GroupVersionResource& resource);
  // Sets whether the server of this API group is away. Then discovery marks its v1 as stale, and
  // its collections answer 503.
  void SetStale(const std::string& group, bool stale);

  // Creates or replaces the object; sets uid (if absent) and resourceVersion. Returns the version.
  std::string Put(const api::GroupVersionResource& resource, json::Value object);
  void Delete(const api::GroupVersionResource& resource, const std::string& ns,
              const std::string& name);
  [[nodiscard]] const json::Value* Find(const api::GroupVersionResource& resource,
                                        const std::string& ns, const std::string& name) const;

  // Watches of the resource show nothing new until Release(). Lists do.
  void Hold(const api::GroupVersionResource& resource) { held_.insert(resource); }
  void Release(const api::GroupVersionResource& resource);
  // The watches of the resource that are open now stay open and show nothing more. Later ones do.
  void Silence(const api::GroupVersionResource& resource);
  // Ends every open watch of the resource. With `expire` the next one is answered 410.
  void CutWatches(const api::GroupVersionResource& resource, bool expire = false);
  // PutBack() restores everything, including versions, to the last Backup(), and ends all watches,
  // like a restored etcd. A watch from a version that is not reached yet shows nothing until it is.
  void Backup();
  void PutBack();
  // Changes the object without an event: no watch will ever show it.
  void PutUnseen(const api::GroupVersionResource& resource, json::Value object);
  void DeleteUnseen(const api::GroupVersionResource& resource, const std::string& ns,
                    const std::string& name);
  // Groups that discovery does not show, although they are served.
  std::set<std::string> hidden;
  // What discovery tells of resources, by their plural.
  std::map<std::string, std::vector<std::string>> short_names;
  std::map<std::string, std::string> singulars;  // others are the kind in small letters
  // What a GET of these paths returns, with an ETag; not counted as lists.
  std::map<std::string, std::string> documents;
  std::size_t document_reads = 0;  // that were answered with the text
  // Returns an error to inject, or nullopt. May be null.
  std::function<std::optional<base::Error>(const client::ApiRequest&)> fault;

  // Returns how long a request waits for its answer. May be null.
  std::function<base::Duration(const client::ApiRequest&)> stall;

  // Returns true if the PATCH is done but its answer is lost. May be null.
  std::function<bool(const client::ApiRequest&)> lose_answer;

  // Clears the functions above. A test must call this before it destroys variables that they use,
  // if the fixture outlives them.
  void ForgetFunctions() {
    fault = nullptr;
    stall = nullptr;
    lose_answer = nullptr;
  }
  base::Error lost{.code = base::ErrorCode::kUnavailable, .message = "connection lost"};
  int minor = 36;  // of the version of Kubernetes
  // A PATCH arrives this much later than it is sent; never, if its timeout ends before.
  base::Duration patch_delay{};
  // The answer to a PATCH is delayed by this; watches show the change at once.
  base::Duration patch_answer_delay{};

  std::size_t lists = 0;
  std::size_t watches = 0;
  std::vector<client::ApiRequest> writes;  // every PATCH, POST and DELETE that arrived
  std::vector<client::ApiRequest> listed;  // every list that was streamed

  base::Task<base::Result<client::ApiResponse>> Do(client::ApiRequest request) override;
  base::Task<base::Result<std::unique_ptr<http::BodyStream>>> Stream(
      client::ApiRequest request) override;

 private:
  friend class WatchBody;
  struct Event {
    std::uint64_t version = 0;
    std::string line;
  };
  struct Collection {
    std::string kind;
    bool namespaced = true;
    std::map<api::ObjectKey, json::Value> objects;
    std::vector<Event> history;  // in the order of versions
    std::uint64_t expired_below = 0;
    std::uint64_t cuts = 0;
    std::uint64_t silences = 0;
    std::set<base::Alarm*> watchers;
  };
  // The answer to all requests for a stale group.
  std::optional<base::Error> Away(const std::string& path) const;
  json::Array DescribeGroups(bool core) const;
  Collection* Route(const std::string& path, api::ObjectKey* key);
  json::Value Stamp(const Collection& collection, json::Value object);
  void Announce(const api::GroupVersionResource& resource, Collection& collection,
                std::string_view type, const json::Value& object);
  base::Result<client::ApiResponse> Discover(const std::string& path) const;
  base::Result<client::ApiResponse> Patch(Collection& collection, const api::ObjectKey& key,
                                          const client::ApiRequest& request);
  base::Result<client::ApiResponse> Create(Collection& collection,
                                           const client::ApiRequest& request);
  base::Result<client::ApiResponse> Remove(Collection& collection, const api::ObjectKey& key,
                                           const client::ApiRequest& request);
  [[nodiscard]] const api::GroupVersionResource& ResourceOf(const Collection& collection) const;
  // What a list selects.
  struct Selection {
    std::string ns;    // "": all
    std::string name;  // "": all
    bool metadata = false;
  };
  static Selection SelectionOf(const client::ApiRequest& request, const std::string& ns);
  std::string ListBody(const Collection& collection, const Selection& selection) const;

  base::Scheduler& scheduler_;
  std::map<api::GroupVersionResource, Collection> collections_;
  std::set<api::GroupVersionResource> held_;
  std::set<std::string> stale_;
  std::uint64_t version_ = 100;
  std::uint64_t uids_ = 0;
  std::map<api::GroupVersionResource, std::map<api::ObjectKey, json::Value>> backup_;
  std::uint64_t backup_version_ = 0;
};

}  // namespace fake
