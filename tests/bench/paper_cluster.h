#pragma once

// An API server that stores nothing but quotas: its pods and other objects are made while they are
// listed, as many as a bench likes, and its watches show what the bench sends. So a million objects
// cost no memory beside the daemon's, and events come as fast as they are taken.
//
// Plain HTTP on loopback. The server has a thread of its own; every call here blocks its caller or
// returns at once, from one other thread.

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
  // Bytes of a watch, piece by piece; "" ends the source, not the watch.
  using Source = std::function<std::string()>;

  static constexpr const char* kNamespace = "team-a";

  // So many pods of ten workloads, about 5 kB each as JSON and sent as protobuf; and of other kinds
  // (Secrets and ConfigMaps by turns) their metadata.
  PaperCluster(int pods, int others);
  ~PaperCluster();

  // Of an administrator; a file that lives as long as this.
  [[nodiscard]] const std::string& Kubeconfig() const;

  // Creates the quota, or changes its spec; watches show it. Returns when that was sent.
  Moment PutQuota(const std::string& name, const json::Value& spec);
  // Creates so many quotas of pods, one in each of as many namespaces without pods, whose statuses
  // are right. Before anybody watches.
  void PutEmptyQuotas(int count);
  // Ends the watches of pods, and answers their lists and watches with 503 from now on; or no more.
  void RefusePods(bool refuse);
  // When a status with this `used` was written to the quota first since its spec was put; nullopt
  // if it was not within `timeout`.
  std::optional<Moment> WaitForUsed(const std::string& name, const std::string& resource,
                                    const std::string& used, std::chrono::milliseconds timeout);
  // The open watch of pods shows what `source` says; returns when its last piece was taken from it.
  void SendPodEvents(Source source);

 private:
  class Server;
  std::unique_ptr<Server> server_;
};

// A frame of a watch, of a pod with this number: as the list has it, or with other requests.
std::string PaperPodEvent(const std::string& type, int number, int version);

}  // namespace bench
