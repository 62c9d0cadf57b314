#pragma once

// Asks the server which objects namespaces contain, by lists of metadata. Single-threaded.

#include <map>
#include <string>

#include "controllers/quota/questions.h"
#include "controllers/quota/tracked_resource.h"

namespace controllers {

class Asker {
 public:
  explicit Asker(const TrackingContext& context) : context_(context) {}

  // `lists` is keyed by the name of the resource. Fails if one of them cannot be listed.
  base::Task<base::Result<Answers>> Ask(std::map<std::string, Lists> lists,
                                        base::TimePoint deadline);

 private:
  base::Task<base::Result<Listed>> List(api::GroupVersionResource resource, std::string ns,
                                        base::TimePoint deadline);

  const TrackingContext& context_;
};

}  // namespace controllers
