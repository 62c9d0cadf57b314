#pragma once

// A fake cluster with namespaces, pods and ClusterQuotas.

#include <string>
#include <utility>

#include "tests/controllers/quota/controller_fixture.h"

namespace fixture {

inline const api::GroupVersionResource kNamespaces{"", "v1", "namespaces"};
inline const api::GroupVersionResource kClusterQuotas{"quota-controller-manager.io", "v1alpha1",
                                                      "clusterquotas"};

struct ClusterQuotaWorld {
  ClusterQuotaWorld() {
    cluster.Serve(kPods, "Pod");
    cluster.Serve(kNamespaces, "Namespace", false);
    cluster.Serve(kClusterQuotas, "ClusterQuota", false);
  }

  // Stores the namespace with the label team=`team`, or without labels if it is "".
  void PutNamespace(const std::string& name, const std::string& team) {
    json::Value ns = json::Object{{"metadata", json::Object{{"name", name}}}};
    if (!team.empty()) ns.Make({"metadata", "labels"}) = json::Object{{"team", team}};
    const json::Value* old = cluster.Find(kNamespaces, "", name);
    if (old != nullptr) ns.Make({"metadata", "uid"}) = *old->At({"metadata", "uid"});
    cluster.Put(kNamespaces, std::move(ns));
  }
  // Stores a quota that selects the namespaces of the team, if it is not "".
  void PutQuota(const std::string& name, json::Object spec, const std::string& team = "") {
    if (!team.empty()) {
      spec.Set("namespaceSelector", json::Object{{"matchLabels", json::Object{{"team", team}}}});
    }
    cluster.Put(kClusterQuotas,
                json::Object{{"metadata", json::Object{{"name", name}, {"generation", 1}}},
                             {"spec", std::move(spec)}});
  }

  base::asio::io_context io{1};
  base::ManualScheduler scheduler{io};
  fake::FakeCluster cluster{scheduler};
};

}  // namespace fixture
