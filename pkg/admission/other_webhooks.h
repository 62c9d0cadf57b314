#pragma once

// How long the API server may take to store what was admitted here. It asks validating webhooks
// side by side, and stores once the slowest has answered or its timeoutSeconds are over. So the
// longest of all others counts, whatever they are asked about: of each configuration only that
// number is kept.
//
// A longer time counts at once. A shorter one counts after requests that began before have ended.
// While configurations cannot be followed for longer than a moment, the longest time that the API
// server allows counts.
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

namespace admission {

class OtherWebhooks final : public informers::CollectionSink {
 public:
  static constexpr std::chrono::seconds kMost{30};     // that timeoutSeconds may be
  static constexpr std::chrono::seconds kDefault{10};  // where it is not said; also until we know
  // Requests end, and API servers hear of a configuration, so long after its timeout.
  static constexpr std::chrono::seconds kMargin{5};
  // What cannot be followed for so long may have changed; less than any reservation is held.
  static constexpr std::chrono::seconds kPatience{5};

  // `own` is the name of our configuration. The listener is told of each change of Longest().
  using Listener = std::function<void(base::Duration longest)>;
  OtherWebhooks(base::Scheduler& scheduler, client::ApiClient& client, std::string own,
                informers::ReflectorOptions options, Listener listener);

  // Runs until cancelled.
  base::Task<void> Run();

  // For so long may be waited for another webhook; zero where there is none.
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
  base::Duration known_ = kDefault;         // of the configurations, those of late included
  base::Duration now_known_ = kDefault;     // of those that there are
  std::optional<base::TimePoint> lowered_;  // when the former becomes the latter
  std::optional<base::TimePoint> behind_since_;
  std::unique_ptr<informers::Reflector> reflector_;
};

}  // namespace admission
