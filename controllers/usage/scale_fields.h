#pragma once

// Which field of an object its subresource `scale` changes: the CRD of the kind says it, and
// nothing else that an API server serves. Answers are kept for a minute.
//
// Single-threaded. Constructor arguments must outlive it.

#include <chrono>
#include <map>
#include <optional>

#include "pkg/api/resource.h"
#include "pkg/base/asio.h"
#include "pkg/base/error.h"
#include "pkg/base/scheduler.h"
#include "pkg/client/api_client.h"
#include "pkg/quota/usage/field_path.h"

namespace controllers {

class ScaleFields {
 public:
  static constexpr std::chrono::seconds kKept{60};
  static constexpr std::chrono::seconds kKeptWithout{1};  // if the CRD names none
  static constexpr std::size_t kMostKept = 256;

  ScaleFields(client::ApiClient& client, base::Scheduler& scheduler)
      : client_(client), scheduler_(scheduler) {}

  // Nullopt: the kind has no such subresource, or the daemon may not read CRDs, which is logged.
  // Errors: the API server did not answer.
  base::Task<base::Result<std::optional<quota::usage::FieldPath>>> Find(
      api::GroupVersionResource resource, base::TimePoint deadline);

 private:
  using Field = std::optional<quota::usage::FieldPath>;
  struct Kept {
    Field field;
    base::TimePoint until;
  };

  client::ApiClient& client_;
  base::Scheduler& scheduler_;
  std::map<api::GroupVersionResource, Kept> kept_;
  bool complained_ = false;
};

}  // namespace controllers
