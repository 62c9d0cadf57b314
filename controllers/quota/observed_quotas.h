#pragma once

// The quotas of one quota API, as far as this process knows them: their watch, the store that it
// fills, and an account of each. If the watch cannot answer, they are read live.
//
// Single-threaded. Run() must have returned before it is destroyed.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controllers/quota/account.h"
#include "controllers/quota/base/controller_options.h"
#include "controllers/quota/base/quota_store.h"
#include "controllers/quota/base/reach.h"
#include "controllers/quota/events/once_log.h"
#include "controllers/usage/shared_watch.h"
#include "controllers/usage/stall_detector.h"

namespace controllers {

// The timeout of a request that is sent now and must end by the deadline.
inline std::chrono::milliseconds TimeUntil(base::TimePoint deadline, base::TimePoint now) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(deadline - now);
}

class ObservedQuotas {
 public:
  // `listener` is told of each change of the store. `on_restored` is called after an answer has
  // proved that the server was restored to an earlier state, so that everything else is listed
  // again, too. All references must outlive it.
  ObservedQuotas(const TrackingContext& context, const quota::QuotaApi& api,
                 const QuotaControllerOptions& options, const StallDetector& stalls,
                 QuotaListener& listener, std::function<void()> on_restored);

  // Watches until cancelled.
  base::Task<void> Run() { return reflector_->Run(); }

  [[nodiscard]] const quota::QuotaApi& api() const { return api_; }
  [[nodiscard]] QuotaStore& store() { return store_; }
  [[nodiscard]] const QuotaStore& store() const { return store_; }
  [[nodiscard]] Accounts& accounts() { return accounts_; }
  [[nodiscard]] const Accounts& accounts() const { return accounts_; }
  // Which of them reach a namespace, if they are namespaced.
  [[nodiscard]] const Reach& own_namespace() const { return own_namespace_; }
  // Problems of these quotas, and of the resources that count for them.
  [[nodiscard]] OnceLog& log() { return log_; }

  // Why the quotas cannot be listed or watched now; nullopt: nothing fails.
  [[nodiscard]] const std::optional<base::Error>& trouble() const {
    return reflector_->state().trouble;
  }
  // The version up to which the watch has shown the quotas.
  [[nodiscard]] const std::string& shown_version() const {
    return reflector_->state().resource_version;
  }
  // True if the quotas are listed and watched: the store lags only by the delay of an event.
  [[nodiscard]] bool Current() const;
  // Reads the quotas of the namespace live ("": all), unless they are watched.
  base::Task<base::Result<void>> Refresh(std::string ns, base::TimePoint deadline);
  // Returns the stored quota, and gives it to the store. Errors: kNotFound also if it was replaced
  // by another one of the same name.
  base::Task<base::Result<quota::Quota>> Read(quota::Quota quota, base::TimePoint deadline);
  // Call it if an answer has proved that the server was restored. Watches that resume would show
  // nothing that was stored since, so everything is listed again, at most once a minute.
  void OnPutBack();

 private:
  // A list of one namespace that was read live.
  struct Listed {
    base::TimePoint asked;  // its answer may arrive much later, after the process was stopped
    std::string version;
  };
  // The quotas of the namespace that the store has now, with their versions.
  using StoredVersion = std::pair<api::ObjectKey, std::string>;
  [[nodiscard]] std::vector<StoredVersion> StoredIn(const std::string& ns) const;
  void TakeList(Listed listed, const std::string& ns, const json::Array& quotas,
                bool true_if_older);

  base::Scheduler& scheduler_;
  client::ApiClient& client_;
  const quota::QuotaApi& api_;
  const StallDetector& stalls_;
  std::function<void()> on_restored_;
  Accounts accounts_;
  OnceLog log_;
  QuotaStore store_;
  OwnNamespace own_namespace_{store_};
  std::unique_ptr<metrics::InformerMetrics> metrics_;
  std::unique_ptr<informers::Reflector> reflector_;
  // namespaces that were read live while not Current()
  std::map<std::string, Listed> refreshed_;
  // The last time that OnPutBack() listed again, and the version of the quotas' watch then.
  std::optional<base::TimePoint> put_back_at_;
  std::string put_back_from_;
};

}  // namespace controllers
