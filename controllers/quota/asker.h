#pragma once

// Asks the server which objects namespaces have, by lists of metadata. Single-threaded.

#include <map>
#include <set>
#include <string>

#include "controllers/quota/questions.h"
#include "controllers/quota/tracked_resource.h"

namespace controllers {

class Asker {
 public:
  explicit Asker(const TrackingContext& context) : context_(context) {}

  struct Lists {
    api::GroupVersionResource resource;
    std::set<std::string> namespaces;  // "": all
  };
  // `lists`: by the resource's name. Errors: one of them cannot be listed.
  base::Task<base::Result<Answers>> Ask(std::map<std::string, Lists> lists,
                                        base::TimePoint deadline);

 private:
  base::Task<base::Result<Listed>> List(api::GroupVersionResource resource, std::string ns,
                                        base::TimePoint deadline);

  const TrackingContext& context_;
};

}  // namespace controllers
