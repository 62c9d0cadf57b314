#pragma once

// Has the children of a ClusterQuota recounted after the amounts changed that it leaves to them:
// the field `available` of a child depends on its ancestors. The children are enqueued with a
// delay, and not again before it ends. So a busy parent causes few writes, and each of ten thousand
// children is enqueued once in minutes.
//
// No I/O; one thread. All references must outlive it.

#include <functional>
#include <map>
#include <string>

#include "controllers/quota/account.h"
#include "controllers/quota/base/quota_store.h"
#include "controllers/quota/cluster/cluster_status.h"

namespace controllers {

class ChildLooks {
 public:
  // `look` enqueues the quota after this time.
  ChildLooks(const base::Clock& clock, const ClusterReach& reach, const ClusterStatus& status,
             const QuotaStore& store, Accounts& accounts,
             std::function<void(const api::ObjectKey& key, base::Duration after)> look)
      : clock_(clock),
        reach_(reach),
        status_(status),
        store_(store),
        accounts_(accounts),
        look_(std::move(look)) {}

  // The status of this quota, or what it promises to its children, has changed. Returns true if
  // TellSome() has to be called.
  bool OnParent(const std::string& parent);
  // Enqueues some more children. Returns true if it must be called again.
  bool TellSome();

 private:
  // The parents whose children are being enqueued, and the last child that was.
  using Telling = std::map<std::string, std::string>;
  // Returns true if there are more children.
  bool Tell(Telling::value_type& telling);

  const base::Clock& clock_;
  const ClusterReach& reach_;
  const ClusterStatus& status_;
  const QuotaStore& store_;
  Accounts& accounts_;
  std::function<void(const api::ObjectKey& key, base::Duration after)> look_;
  Telling telling_;
};

}  // namespace controllers
