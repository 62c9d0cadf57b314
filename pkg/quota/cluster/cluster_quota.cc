#include "pkg/quota/cluster/cluster_quota.h"

#include <utility>

#include "pkg/quota/core/core_quota.h"

namespace quota {

QuotaApi ClusterQuotaApi() {
  QuotaApi api = CoreQuotaApi();
  api.counts_as = std::exchange(api.name, "cluster");
  api.resource = {
      .group = "quota-controller-manager.io", .version = "v1alpha1", .resource = "clusterquotas"};
  api.kind = "ClusterQuota";
  api.form = {.reservations_in_status = true, .cluster = true};
  api.fields = QuotaFields(api.form);
  return api;
}

}  // namespace quota
