#pragma once

// How long the API server may take to store an object that was admitted here. It calls validating
// webhooks side by side, and stores the object when the slowest one has answered or timed out. So
// the longest timeoutSeconds of all other webhooks counts, whatever their rules are. Only that
// number is kept of each configuration.
//
// A longer timeout counts at once. A shorter one counts when the requests that began before it have
// ended. If the watch has missed changes for longer than kPatience, the longest timeout that the
// API server allows counts.
//
// Single-threaded. Client and scheduler outlive it; Run() must have returned before it is
// destroyed.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "informers/reflector.h"
#include "pkg/base/asio.h"
#include "pkg/base/scheduler.h"
#include "pkg/client/api_client.h"

namespace webhook {

class OtherWebhooks final : public informers::CollectionSink {
 public:
  static constexpr std::chrono::seconds kMost{30};     // the maximum of timeoutSeconds
  static constexpr std::chrono::seconds kDefault{10};  // if not set, and until the first list
  // How long after the timeout all requests have ended, and all API servers know a changed
  // configuration.
  static constexpr std::chrono::seconds kMargin{5};
  // After a gap in the watch and its catching up have lasted this long, kMost is assumed: a timeout
  // may have changed unnoticed. No reservation is held for a shorter time.
  static constexpr std::chrono::seconds kPatience{8};
  // Within this time after a gap the watch has shown what was missed.
  static constexpr std::chrono::seconds kCatchesUp{3};

  // `own` is the name of our configuration. The listener is called when Longest() changes.
  using Listener = std::function<void(base::Duration longest)>;
  OtherWebhooks(base::Scheduler& scheduler, client::ApiClient& client, std::string own,
                informers::ReflectorOptions options, Listener listener);

  // Runs until cancelled.
  base::Task<void> Run();

  // How long the API server may wait for another webhook; zero if there is none.
  [[nodiscard]] base::Duration Longest() const { return longest_; }

  void BeginList() override;
  void Upsert(const json::Value& object) override;
  void Remove(const json::Value& object) override;
  void EndList() override;
  void OnState() override;

 private:
  [[nodiscard]] base::Duration Known() const;
  [[nodiscard]] bool IsBlind();
  void Look();
  void Become(base::Duration longest);
  void SayForbidden();

  base::Scheduler& scheduler_;
  std::string own_;
  Listener listener_;
  std::map<std::string, base::Duration> timeouts_;  // the longest of each configuration
  std::set<std::string> listed_;                    // since BeginList()
  bool synced_ = false;
  bool said_forbidden_ = false;
  base::Duration longest_ = kDefault;
  base::Duration known_ = kDefault;         // also of requests that began before a change
  base::Duration now_known_ = kDefault;     // of the present configurations
  std::optional<base::TimePoint> lowered_;  // when known_ becomes now_known_
  std::optional<base::TimePoint> behind_since_;
  std::unique_ptr<informers::Reflector> reflector_;
};

}  // namespace webhook
