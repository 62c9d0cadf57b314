#pragma once

// An API server that stores only quotas. Its pods and other objects are made up while they are
// listed, as many as a bench wants, and its watches show what the bench sends. So a million objects
// need no memory outside of the daemon, and events come as fast as they are read.
//
// Plain HTTP on loopback. The server has its own thread. Calls come from one other thread and
// return at once or block.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "pkg/json/value.h"

namespace bench {

class PaperCluster {
 public:
  using Moment = std::chrono::steady_clock::time_point;
  // Returns bytes of a watch, piece by piece; "" ends the source, not the watch.
  using Source = std::function<std::string()>;

  static constexpr const char* kNamespace = "team-a";

  // So many pods of ten workloads, about 5 kB each as JSON and sent as protobuf; and so many other
  // objects (Secrets and ConfigMaps in turn), of which only metadata is sent.
  PaperCluster(int pods, int others);
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
  // When a status with this `used` was first written after the quota's spec was put; nullopt if it
  // was not within `timeout`.
  std::optional<Moment> WaitForUsed(const std::string& name, const std::string& resource,
                                    const std::string& used, std::chrono::milliseconds timeout);
  // Sends the pieces of `source` on the open watch of pods; returns when the last one was taken.
  void SendPodEvents(Source source);

 private:
  class Server;
  std::unique_ptr<Server> server_;
};

// A watch frame for the pod of this number, as in the list or with other requests.
std::string PaperPodEvent(const std::string& type, int number, int version);

}  // namespace bench
