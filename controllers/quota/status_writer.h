#pragma once

// Guarded writes of quotas' statuses with their reservations, and live reads. A write whose answer
// was lost is found again by the number of its entry.
//
// Single-threaded. What it refers to outlives it.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

#include "controllers/quota/account.h"
#include "controllers/quota/pulse.h"
#include "controllers/quota/quota_store.h"
#include "controllers/quota/tracker.h"
#include "informers/reflector.h"

namespace controllers {

// A quota's status as it is to be written, with what it rests on.
struct StatusWrite {
  quota::Quota quota;  // its version guards the write
  quota::ResourceList hard;
  accounting::Standing standing;
  std::optional<std::uint64_t> mark = {};  // of an entry of ours that this write adds
  json::Object further = {};               // other members of status, as in quota::StatusPatch()
};

class StatusWriter {
 public:
  StatusWriter(const TrackingContext& context, const quota::QuotaApi& api, QuotaStore& store,
               Tracker& tracker, informers::Reflector& quotas, const Pulse& pulse,
               Accounts& accounts)
      : context_(context),
        api_(api),
        store_(store),
        tracker_(tracker),
        quotas_(quotas),
        pulse_(pulse),
        accounts_(accounts) {}

  // What it made, which the store then knows. Errors: kConflict also if the quota is found to have
  // changed; else what kept the write from being made, as far as is known.
  base::Task<base::Result<quota::Quota>> Write(StatusWrite write, base::TimePoint deadline);
  // As it is stored now, which the store then knows. Errors: kNotFound also if it is another one of
  // the same name.
  base::Task<base::Result<quota::Quota>> Read(quota::Quota quota, base::TimePoint deadline);
  // Reads the namespace's quotas live, unless they are followed.
  base::Task<base::Result<void>> Refresh(std::string ns, base::TimePoint deadline);
  // The labels of a namespace as they are stored now; null: it has none, or is not there.
  base::Task<base::Result<json::Value>> ReadLabels(std::string ns, base::TimePoint deadline);
  // The quotas are listed and followed: the store has what is stored, but for the time an event
  // takes.
  [[nodiscard]] bool Current() const;
  // The server was put back to an earlier state: watches that go on from where they were show
  // nothing of what is stored since.
  void OnPutBack();
  // What else is listed again then.
  void SetPutBackListener(std::function<void()> listener) { on_put_back_ = std::move(listener); }
  // The error of a write that came too late.
  static base::Error Changed(const quota::Quota& quota);

 private:
  // A list of one namespace that was read live.
  struct Listed {
    base::TimePoint at;
    std::string version;
  };
  // The text of its list; "": it writes none.
  [[nodiscard]] static std::string ListOf(const StatusWrite& write);
  base::Task<base::Result<quota::Quota>> Find(StatusWrite write, base::Error error,
                                              base::TimePoint deadline);
  [[nodiscard]] base::Result<quota::Quota> TakeWritten(const StatusWrite& write,
                                                       const json::Value& answer,
                                                       const std::string& shown);
  // `known` is what the watch had shown when the list was asked for.
  void TakeList(const std::string& ns, std::string version, const json::Array& quotas,
                const std::string& known);

  const TrackingContext& context_;
  const quota::QuotaApi& api_;
  QuotaStore& store_;
  Tracker& tracker_;
  informers::Reflector& quotas_;
  const Pulse& pulse_;
  Accounts& accounts_;
  std::unordered_map<std::string, Listed> refreshed_;  // namespaces, while not Current()
  std::function<void()> on_put_back_ = nullptr;
  std::string put_back_from_;  // what the quotas' watch had shown when OnPutBack() was called last
};

}  // namespace controllers
