#pragma once

// Asks the server which objects a namespace has, by lists of metadata. Single-threaded.

#include <map>
#include <string>

#include "controllers/quota/questions.h"
#include "controllers/quota/tracked_resource.h"

namespace controllers {

class Asker {
 public:
  explicit Asker(const TrackingContext& context) : context_(context) {}

  // `resources`: where each is served, by its name. Errors: one of them cannot be listed.
  base::Task<base::Result<Answers>> Ask(std::string ns,
                                        std::map<std::string, api::GroupVersionResource> resources,
                                        base::TimePoint deadline);

 private:
  const TrackingContext& context_;
};

}  // namespace controllers
