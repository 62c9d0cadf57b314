#pragma once

// Internal to the quota admitter: the quota APIs whose quotas decide reviews or advise about them.
//
// Single-threaded.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pkg/admission/object_book.h"
#include "pkg/admission/quota_book.h"
#include "pkg/api/resource.h"
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
  std::size_t class_reads = 0;    // reviews that read classes from the API server
};

// While it exists, the books of the source stay. REQUIRES: the source is open.
class UsesBooks {
 public:
  explicit UsesBooks(QuotaSource& source);
  ~UsesBooks();
  UsesBooks(const UsesBooks&) = delete;
  UsesBooks& operator=(const UsesBooks&) = delete;

 private:
  QuotaSource& source_;
};

class QuotaSources {
 public:
  // As QuotaAdmitter::Enforce(), and QuotaAdmitter::Advise() if it only advises.
  void Add(const quota::QuotaApi& api, bool advises);
  // As the functions of QuotaAdmitter.
  void Open(const std::string& quota_api, QuotaBook& quotas, ObjectBook& objects);
  void HasNone(const std::string& quota_api);
  [[nodiscard]] std::vector<std::string> Enforced() const;
  [[nodiscard]] std::vector<std::string> FieldsOf(const api::GroupResource& resource);

  // REQUIRES: it was added.
  [[nodiscard]] QuotaSource& Of(const std::string& quota_api) const;
  // In the order in which they judge: those of namespaces before ClusterQuotas.
  [[nodiscard]] const std::vector<std::unique_ptr<QuotaSource>>& all() const { return sources_; }

 private:
  std::vector<std::unique_ptr<QuotaSource>> sources_;
  std::map<api::GroupResource, std::vector<std::string>> fields_;  // FieldsOf(), of counted kinds
  std::uint64_t fields_as_of_ = 0;  // the changes of evaluators that they have seen
};

}  // namespace admission
