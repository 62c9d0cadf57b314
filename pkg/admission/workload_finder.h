#pragma once

// Finds the workload that people know an owner by: the Deployment of a ReplicaSet, the CronJob of a
// Job. It asks the API server once for each owner and remembers the answer for a while. Needs
// `list` on the kind of the owner; without this right no owner has a workload.
//
// Single-threaded. Constructor arguments must outlive it.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "pkg/admission/review.h"
#include "pkg/base/asio.h"
#include "pkg/base/scheduler.h"
#include "pkg/client/api_client.h"

namespace admission {

class WorkloadFinder {
 public:
  WorkloadFinder(client::ApiClient& client, base::Scheduler& scheduler)
      : client_(client), scheduler_(scheduler) {}

  // Returns false if the owner is of a kind that no workload owns.
  [[nodiscard]] static bool MayHaveWorkload(const Owner& owner);
  struct Answer {
    std::optional<Owner> workload;  // nullopt: none, or it could not be read
    base::TimePoint until{};
  };
  // The answer for an owner in this namespace. Null: it is not known, so ask. Valid until the next
  // Ask().
  [[nodiscard]] const Answer* Known(const std::string& ns, const Owner& owner) const;
  // Reads the owner, and remembers its workload. Takes a second at most. REQUIRES:
  // MayHaveWorkload(owner), and that its name may be part of a selector.
  base::Task<std::optional<Owner>> Ask(std::string ns, Owner owner);

  static constexpr std::size_t kMostKnown = 1'024;  // each takes 3 KiB at most

 private:
  // Of an owner: its namespace, name and uid.
  using Key = std::tuple<std::string, std::string, std::string>;
  void Remember(Key key, std::optional<Owner> workload);

  client::ApiClient& client_;
  base::Scheduler& scheduler_;
  std::map<Key, Answer> known_;
  std::map<std::string, base::TimePoint, std::less<>> refused_;  // until when, by the kind
};

}  // namespace admission
