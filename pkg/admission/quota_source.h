#pragma once

// Internal to the quota admitter: a quota API whose quotas decide reviews, or advise about them.

#include <cstddef>

#include "pkg/admission/object_book.h"
#include "pkg/admission/quota_book.h"
#include "pkg/quota/quota.h"

namespace admission {

// Quota APIs come and go with their kinds: the books are those of a controller that runs only while
// the API server serves them.
struct QuotaSource {
  QuotaSource(const quota::QuotaApi& quota_api, bool only_advises)
      : api(quota_api), advises(only_advises) {}

  const quota::QuotaApi& api;
  const bool advises;             // somebody else enforces these quotas
  bool known = false;             // false: it may have quotas that nobody has looked for yet
  bool open = false;              // false: it has no quotas, for reviews that begin now
  QuotaBook* book = nullptr;      // valid while `open`, and while there are asks
  ObjectBook* objects = nullptr;  // the same
  std::size_t asks = 0;           // reviews that use the books
};

// While it exists, the books of the source stay. REQUIRES: the source is open.
class UsesBooks {
 public:
  explicit UsesBooks(QuotaSource& source) : source_(source) { ++source_.asks; }
  ~UsesBooks() { --source_.asks; }
  UsesBooks(const UsesBooks&) = delete;
  UsesBooks& operator=(const UsesBooks&) = delete;

 private:
  QuotaSource& source_;
};

}  // namespace admission
