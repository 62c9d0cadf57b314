#pragma once

// Reads single objects from the API server for admission, when no watch has shown them or none
// can: a new class, an object whose subresource `scale` is updated, and the holder of a name.
//
// Single-threaded. Constructor arguments must outlive it.

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "controllers/usage/served_resources.h"
#include "pkg/admission/object_book.h"
#include "pkg/api/resource.h"
#include "pkg/base/scheduler.h"
#include "pkg/client/api_client.h"
#include "pkg/quota/usage/field_path.h"

namespace controllers {

class ObjectReads {
 public:
  // How long it is known which field of a kind a Scale changes.
  static constexpr std::chrono::seconds kFieldKept{60};

  ObjectReads(client::ApiClient& client, base::Scheduler& scheduler, const ServedResources& served)
      : client_(client), scheduler_(scheduler), served_(served) {}

  // As the functions of admission::ObjectBook.
  base::Task<base::Result<quota::ClassUsage>> ReadClass(const quota::Evaluator& evaluator,
                                                        std::string name, base::TimePoint deadline);
  base::Task<base::Result<std::optional<admission::ScaledObject>>> ReadScaled(
      const quota::Evaluator& evaluator, std::string ns, std::string name,
      base::TimePoint deadline);
  // True if another object of this collection, given by its path, has this name.
  base::Task<bool> IsTaken(std::string collection, std::string name, quota::Uid uid,
                           base::TimePoint deadline);

 private:
  using Field = std::optional<quota::usage::FieldPath>;
  struct Kept {
    Field field;
    base::TimePoint until;
  };
  // Which field of an object its subresource `scale` changes: the CRD of the kind says it, and
  // nothing else that an API server serves. Nullopt: the kind has no such subresource, or the
  // daemon may not read CRDs, which is logged. Errors: the API server did not answer.
  base::Task<base::Result<Field>> ScaleFieldOf(api::GroupVersionResource resource,
                                               base::TimePoint deadline);

  client::ApiClient& client_;
  base::Scheduler& scheduler_;
  const ServedResources& served_;
  // paths of classes that were not found, and when
  std::map<std::string, base::TimePoint> missed_;
  std::size_t looks_ = 0;   // calls of IsTaken() that wait for the server
  std::size_t scales_ = 0;  // and of ReadScaled()
  std::map<api::GroupVersionResource, Kept> scale_fields_;
  bool complained_ = false;  // that CRDs may not be read
};

}  // namespace controllers
