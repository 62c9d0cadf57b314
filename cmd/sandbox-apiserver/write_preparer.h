#pragma once

// The first two steps of a write: decodes the request, and applies the rules of its kind. The third
// is Store::Commit(). No I/O; one thread.

#include <cstdint>
#include <random>
#include <string>

#include "cmd/sandbox-apiserver/objects.h"
#include "cmd/sandbox-apiserver/outcome.h"
#include "cmd/sandbox-apiserver/patch.h"
#include "cmd/sandbox-apiserver/write.h"
#include "pkg/base/clock.h"
#include "pkg/json/value.h"

namespace sandbox {

class WritePreparer {
 public:
  // `seed` is that of uids and generated names; 0: taken from the system.
  WritePreparer(const Objects& objects, const base::Clock& clock, std::uint64_t seed);

  // The first step: decoded, defaulted, patched.
  [[nodiscard]] Outcome<PendingWrite> Create(const Target& target, json::Value body,
                                             const WriteOptions& options) const;
  [[nodiscard]] Outcome<PendingWrite> Update(const Target& target, json::Value body,
                                             const WriteOptions& options) const;
  // Server-side apply of a missing object prepares a create.
  [[nodiscard]] Outcome<PendingWrite> Patch(const Target& target, const PatchRequest& patch,
                                            const WriteOptions& options) const;
  [[nodiscard]] Outcome<PendingWrite> Delete(const Target& target,
                                             const DeleteOptions& options) const;
  // The second step: system fields, strategy, validation.
  Outcome<void> Complete(PendingWrite& write);

 private:
  Outcome<void> CompleteCreate(PendingWrite& write);
  Outcome<void> CompleteUpdate(PendingWrite& write);
  void EnsureName(PendingWrite& write);
  [[nodiscard]] std::string Timestamp() const;
  std::string NewUid();
  std::string RandomSuffix();

  const Objects& objects_;
  const base::Clock& clock_;
  std::mt19937_64 random_;
};

}  // namespace sandbox
