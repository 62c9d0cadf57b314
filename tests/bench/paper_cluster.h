#pragma once

// An API server that stores only ResourceQuotas, or only ClusterQuotas and UsageDefinitions. Its
// pods and other objects are generated while they are listed, in any number, and its watches send
// the events of the bench. So a million objects need no memory outside of the daemon, and events
// come as fast as the daemon reads them.
//
// Plain HTTP on loopback. The server has its own thread. Calls come from one other thread and
// return at once or block.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "pkg/json/value.h"
#include "tests/bench/paper_kinds.h"

namespace bench {

class PaperCluster {
 public:
  using Moment = std::chrono::steady_clock::time_point;
  // Returns bytes of a watch, piece by piece; "" ends the source, not the watch.
  using Source = std::function<std::string()>;

  static constexpr const char* kNamespace = "team-a";

  // With `namespaces`: the pods are in so many of them in turn (PaperNamespace()), whose labels are
  // {"team": "a"}, and quotas are ClusterQuotas.
  // Without: all are in kNamespace.
  //
  // So many pods of ten workloads, about 5 kB each as JSON and sent as protobuf; and so many other
  // objects (Secrets and ConfigMaps in turn), of which only metadata is sent.
  //
  // With `kinds`, which needs `namespaces`: custom objects, and a UsageDefinition for each kind.
  PaperCluster(int pods, int others, int namespaces = 0, const PaperKinds& kinds = {});
  ~PaperCluster();

  // An administrator's; the file lives as long as this.
  [[nodiscard]] const std::string& Kubeconfig() const;

  // Creates the quota or changes its spec; watches show it. Returns when the event was sent.
  Moment PutQuota(const std::string& name, const json::Value& spec);
  // Creates so many quotas of pods with right statuses, each in its own namespace without pods.
  // Call it before anybody watches.
  void PutEmptyQuotas(int count);
  // With `refuse`, ends the watches of pods and answers their lists and watches with 503 until
  // called with false.
  void RefusePods(bool refuse);
  // Returns when a status with this `used` was first written after the last PutQuota(); nullopt if
  // none was within `timeout`.
  std::optional<Moment> WaitForUsed(const std::string& name, const std::string& resource,
                                    const std::string& used, std::chrono::milliseconds timeout);
  // Sends the pieces of `source` on the open watch of the resource ("pods"); returns when the last
  // one was taken.
  void SendEvents(const std::string& resource, Source source);

 private:
  class Server;
  std::unique_ptr<Server> server_;
};

// A watch frame for the pod of this number, as in the list or with other requests.
std::string PaperPodEvent(const std::string& type, int number, int version);
// The same, in one of the namespaces of ClusterQuotas.
std::string PaperPodEventIn(const std::string& ns, const std::string& type, int number,
                            int version);

}  // namespace bench
