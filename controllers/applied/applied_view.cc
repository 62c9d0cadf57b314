#include "controllers/applied/applied_view.h"

#include <algorithm>
#include <utility>

#include "pkg/quota/cluster/quota_tree.h"
#include "pkg/quota/quantity_field.h"

namespace controllers {
namespace {

// How long the first list of a kind may take. Until then the object is not changed. Otherwise each
// restart would remove a count and add it again.
constexpr std::chrono::minutes kUntilListed{5};

}  // namespace

std::vector<std::string> AppliedView::QuotasOf(std::string_view ns) const {
  std::vector<std::string> names;
  for (api::ObjectKey& key : controller_.reach().QuotasOf(ns)) names.push_back(std::move(key.name));
  return names;
}

bool AppliedView::IsAbove(std::string_view ns, std::string_view quota) const {
  const quota::QuotaTree* tree = controller_.reach().quota_tree();
  if (tree == nullptr) return false;
  const quota::QuotaTree::Reach reaching = tree->QuotasOf(ns);
  const auto one = std::ranges::find(reaching, quota, &quota::QuotaTree::Reaching::name);
  return one != reaching.end() && !one->above.empty();
}

std::optional<AppliedContent> AppliedView::ContentOf(const std::string& ns,
                                                     const std::string& quota) const {
  const quota::Quota* held = controller_.store().Find({"", quota});
  // The first count writes the status with conditions. Before that there is nothing to show, and
  // neither while admission does not guard any name yet.
  if (held == nullptr || !held->cluster || !held->further_status.Contains("conditions") ||
      (held->status.hard.empty() && !held->hard.empty())) {
    return std::nullopt;
  }
  quota::Quota in_one;  // a copy of the quota that counts only this namespace
  in_one.key = {ns, quota};
  in_one.hard = held->hard;
  in_one.selector = held->selector;
  QuotaCount count = controller_.usage().Count(in_one, kUntilListed);
  if (count.pending) return std::nullopt;
  AppliedContent content{.uid = held->uid,
                         .parent = held->cluster->parent,
                         .enforcement = held->cluster->enforcement,
                         .selector = held->selector,
                         .guaranteed = held->cluster->guaranteed,
                         .guaranteed_below = controller_.reach().quota_tree()->PromisedBelow(quota),
                         .status = held->status,
                         .available = {},
                         .in_namespace = {}};
  // What the API server refuses in an AppliedClusterQuota is left out, so that the rest is written.
  content.available = quota::ReadAmounts(held->further_status.Find("available"), "available",
                                         quota::Negative::kUnreadable)
                          .list;
  for (const auto& [name, limit] : held->status.hard) {
    const quota::Quantity* used = count.observed.used.Find(name);
    if (used != nullptr) content.in_namespace.Set(name, std::max(*used, quota::Quantity()));
  }
  return content;
}

}  // namespace controllers
