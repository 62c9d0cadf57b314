#pragma once

// The watch of one collection for an evaluator: its reflector, its state, and who is told of
// changes. Several quota APIs may use it (shared_resources.h). If it fails, it keeps what it knows.
//
// Single-threaded. Stop() must have returned before it is destroyed.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/usage/served_resources.h"
#include "controllers/usage/sync_state.h"
#include "informers/reflector.h"
#include "pkg/api/resource.h"
#include "pkg/base/scheduler.h"
#include "pkg/base/task_group.h"
#include "pkg/client/api_client.h"
#include "pkg/client/event_recorder.h"
#include "pkg/metrics/informer_metrics.h"
#include "pkg/quota/evaluator.h"
#include "pkg/quota/ledger.h"

namespace controllers {

// What a watch needs from its environment. All of it must outlive the watch.
struct TrackingContext {
  base::asio::any_io_executor executor;
  base::Scheduler* scheduler = nullptr;
  client::ApiClient* client = nullptr;
  // the defaults; resource and fields are set for each watch
  informers::ReflectorOptions reflector;
  base::Gate* lists = nullptr;              // of tracked resources; may be absent
  std::string name;                         // the quota API's name, for the informers in metrics
  metrics::Registry* registry = nullptr;    // may be absent
  client::EventRecorder* events = nullptr;  // may be absent
};

// The metrics of one watched collection, under this informer name; null without a registry.
std::unique_ptr<metrics::InformerMetrics> NewInformerMetrics(
    const TrackingContext& context, std::string name, const api::GroupVersionResource& resource);

// The reflector of one collection. `metrics` (may be null) and the sink must outlive it.
std::unique_ptr<informers::Reflector> NewReflector(const TrackingContext& context,
                                                   api::GroupVersionResource resource,
                                                   std::vector<std::string> fields,
                                                   metrics::InformerMetrics* metrics,
                                                   informers::CollectionSink& sink);

// Who is told of what objects use.
class UsageListener {
 public:
  virtual ~UsageListener() = default;
  // Facts of an object changed, by an event or by time.
  virtual void OnUsageChange(const quota::Evaluator& evaluator,
                             const quota::LedgerChange& change) = 0;
  // The resources that these count became synced, failed, recovered, or are known to be unserved.
  using Evaluators = std::vector<const quota::Evaluator*>;
  virtual void OnResourceStates(const Evaluators& evaluators) = 0;
  // A class that the evaluator reads was added, changed or removed.
  virtual void OnClassChange(const quota::Evaluator& evaluator, const std::string& name) = 0;
  // The classes became known or unknown.
  virtual void OnClassState(const quota::Evaluator& evaluator) = 0;
  // An event has shown an object or its deletion, whether or not its facts changed.
  virtual void OnShown(std::string_view ns, const quota::Uid& uid) = 0;
};

class SharedWatch : public informers::CollectionSink {
 public:
  // Returns the classes that the evaluator reads; null if they are not known.
  using Classes = std::function<const quota::ClassTable*()>;

  // `user` is told of changes from now on, but not of what was listed before. It must be removed
  // before it is destroyed. `classes` is null if the watch needs none.
  void AddUser(UsageListener& user, Classes classes = nullptr);
  void RemoveUser(const UsageListener& user);
  [[nodiscard]] bool used() const { return !users_.empty(); }
  // True for the user that was added before all others that there are now. It resyncs the resource.
  [[nodiscard]] bool IsFirst(const UsageListener& user) const {
    return used() && users_.front().listener == &user;
  }

  void Start();  // no effect after the first call
  base::Task<void> Stop();
  // Lists again, because the server was restored to an earlier state.
  virtual void Relist();

  [[nodiscard]] const api::GroupVersionResource& resource() const { return resource_; }
  [[nodiscard]] const quota::Evaluator& evaluator() const { return evaluator_; }
  [[nodiscard]] const informers::ReflectorState& state() const { return reflector_->state(); }
  // True if the server does not serve the collection any more, or with the other scope. Discovery
  // alone may be wrong for a while after the start of a server, so the server must have refused the
  // collection itself, too: it does not know it, or does not let us read it, because the role that
  // grants it may be deleted with the kind.
  [[nodiscard]] bool IsOver(const ServedResources& served, ResourceScope scope) const;
  // True if a complete list was read.
  [[nodiscard]] bool listed() const { return sync_state_.listed(); }
  // True if what was read is complete and current.
  [[nodiscard]] bool synced() const { return sync_state_.synced(); }

 protected:
  struct User {
    UsageListener* listener = nullptr;
    Classes classes;
  };

  SharedWatch(TrackingContext context, api::GroupVersionResource resource,
              quota::Evaluator evaluator, const std::vector<std::string>& fields);

  [[nodiscard]] const TrackingContext& context() const { return context_; }
  [[nodiscard]] base::TimePoint Now() const { return context_.scheduler->Now(); }
  // In the order in which they were added. None may be added or removed while they are told.
  [[nodiscard]] const std::vector<User>& users() const { return users_; }
  [[nodiscard]] SyncState& sync_state() { return sync_state_; }
  [[nodiscard]] const SyncState& sync_state() const { return sync_state_; }
  [[nodiscard]] informers::Reflector& reflector() { return *reflector_; }

 private:
  // Starts what runs beside the reflector.
  virtual void StartTasks(base::TaskGroup& /*tasks*/) {}

  TrackingContext context_;
  api::GroupVersionResource resource_;
  quota::Evaluator evaluator_;
  std::vector<User> users_;
  bool running_ = false;
  SyncState sync_state_;
  base::TaskGroup tasks_;
  std::unique_ptr<metrics::InformerMetrics> metrics_;
  std::unique_ptr<informers::Reflector> reflector_;
};

}  // namespace controllers
