#include "pkg/webhook/webhook_remover.h"

#include <glog/logging.h>

#include <utility>

#include "pkg/api/object_meta.h"
#include "pkg/json/value.h"
#include "pkg/webhook/ownership.h"
#include "pkg/webhook/stored_configuration.h"

namespace webhook {

std::optional<json::Value> EmptyingPatch(const json::Value& live, const std::string& installation,
                                         const std::string& identity) {
  if (!HasOurLabel(live) || InstallationOf(live) != installation) return std::nullopt;
  if (AsksNobody(live)) return std::nullopt;
  json::Object metadata{{"uid", std::string(api::Uid(live))},
                        {"resourceVersion", std::string(api::ResourceVersion(live))}};
  if (!identity.empty()) {
    metadata.Set("annotations", json::Object{{std::string(kCountingAnnotation), identity}});
  }
  return json::Object{{"metadata", std::move(metadata)}, {"webhooks", json::Array()}};
}

WebhookRemover::WebhookRemover(base::Scheduler& scheduler, client::ApiClient& client,
                               WebhookRemoverOptions options)
    : scheduler_(scheduler), client_(client), options_(std::move(options)) {}

base::Task<void> WebhookRemover::Run() {
  co_await base::DeferCancellation();
  const std::unique_ptr<base::Alarm> alarm = scheduler_.NewAlarm();
  while (!co_await base::Stopping()) {
    const base::Duration pause = co_await Look();
    co_await alarm->WaitUntil(scheduler_.Now() + pause);
  }
}

base::Task<base::Duration> WebhookRemover::Look() {
  constexpr std::chrono::milliseconds kLeads{500};  // how soon a new leader notices that it leads
  if (!options_.leads()) co_return kLeads;
  client::ApiRequest look;
  look.path = kWebhookConfigurations.Path({}, options_.name);
  look.timeout = options_.timeout;
  const auto live = co_await client::DoJson(client_, std::move(look));
  if (!live) co_return AfterError(live.error());
  // An object that a tool installed and no daemon ever filled has no installation.
  turned_off_ =
      HasOurLabel(*live) && InstallationOf(*live) == options_.installation && AsksNobody(*live);
  auto patch = EmptyingPatch(*live, options_.installation, options_.identity);
  if (!patch || !options_.leads()) co_return options_.period;  // the lease may be lost meanwhile
  const base::Result<bool> may = co_await MayEmpty();
  if (!may) co_return AfterError(may.error());
  if (!*may) co_return options_.period;
  co_return co_await Empty(std::move(*patch));
}

base::Task<base::Result<bool>> WebhookRemover::MayEmpty() {
  if (!options_.identity.empty()) co_return true;
  // The other daemon may be as new as this one: do not undo its write forever.
  if (emptied_) {
    SayKept("it was filled again by a daemon of this installation that enforces");
    co_return false;
  }
  const base::Result<bool> led = co_await options_.somebody_leads();
  if (!led) co_return led.error().Wrap("whether a daemon holds the lease");
  if (*led) SayKept("the lease of this installation is held");
  co_return !*led;
}

void WebhookRemover::SayKept(std::string_view why) {
  if (std::exchange(kept_, why) == why) return;
  LOG(ERROR) << "webhook configuration of a daemon that enforces is left alone: " << why
             << ", and without leader election this daemon cannot know whether it leads name="
             << options_.name;
}

base::Task<base::Duration> WebhookRemover::Empty(json::Value patch) {
  client::ApiRequest request;
  request.verb = "PATCH";
  request.path = kWebhookConfigurations.Path({}, options_.name);
  request.content_type = client::kMergePatch;
  request.body = json::Write(patch);
  request.timeout = options_.timeout;
  const auto done = co_await client_.Do(std::move(request));
  if (!done) co_return AfterError(done.error());
  emptied_ = true;
  turned_off_ = true;
  LOG(WARNING) << "webhook configuration of a daemon that enforced was emptied: "
                  "nothing is refused any more name="
               << options_.name;
  co_return options_.period;
}

base::Duration WebhookRemover::AfterError(const base::Error& error) {
  using base::ErrorCode;
  trouble_ = error.Is(ErrorCode::kNotFound) ? "" : trouble_;
  if (error.Is(ErrorCode::kNotFound) || error.Is(ErrorCode::kForbidden)) turned_off_ = false;
  if (error.Is(ErrorCode::kNotFound) || error.Is(ErrorCode::kCancelled)) return options_.period;
  // Somebody wrote the object after it was read: read it again soon.
  if (error.Is(ErrorCode::kConflict)) return std::chrono::milliseconds(100);
  if (std::exchange(trouble_, error.message) != error.message) {
    LOG(WARNING) << "cannot check whether an enforcing daemon left webhooks name=" << options_.name
                 << " error=" << json::Quote(error.message);
  }
  return error.Is(ErrorCode::kForbidden) ? options_.period_of_refused : options_.period;
}

}  // namespace webhook
