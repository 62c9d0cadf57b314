#include "pkg/webhook/other_webhooks.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

#include "pkg/base/duration.h"
#include "pkg/base/task_group.h"
#include "pkg/webhook/webhook_configuration.h"

namespace webhook {
namespace {

constexpr std::chrono::seconds kLook{1};

informers::ReflectorOptions TimeoutsOnly(informers::ReflectorOptions options) {
  options.resource = kWebhookConfigurations;
  options.fields = {"webhooks.timeoutSeconds"};
  return options;
}

base::Duration LongestOf(const json::Value& configuration) {
  base::Duration longest{};
  for (const json::Value& webhook : configuration.ArrayAt({"webhooks"})) {
    const json::Value* seconds = webhook.At({"timeoutSeconds"});
    const auto said = seconds != nullptr ? seconds->AsInt64() : std::nullopt;
    // Bounded first: a number that somebody else wrote must not overflow a duration.
    const base::Duration timeout =
        said ? base::Duration(std::chrono::seconds(std::clamp<std::int64_t>(*said, 0, 3600)))
             : OtherWebhooks::kDefault;
    longest = std::max(longest, timeout);
  }
  return std::min<base::Duration>(longest, OtherWebhooks::kMost);
}

std::string NameOfConfiguration(const json::Value& configuration) {
  return std::string(configuration.StringAt({"metadata", "name"}));
}

}  // namespace

OtherWebhooks::OtherWebhooks(base::Scheduler& scheduler, client::ApiClient& client, std::string own,
                             informers::ReflectorOptions options, Listener listener)
    : scheduler_(scheduler),
      own_(std::move(own)),
      listener_(std::move(listener)),
      reflector_(
          informers::NewReflector(client, scheduler, *this, TimeoutsOnly(std::move(options)))) {}

base::Task<void> OtherWebhooks::Run() {
  co_await base::DeferCancellation();
  base::TaskGroup watching(co_await base::asio::this_coro::executor);
  watching.Spawn("other webhooks", [this] { return reflector_->Run(); });
  while (!co_await base::Stopping()) {
    Look();
    co_await scheduler_.Sleep(kLook);
  }
  co_await base::IgnoreCancellation();
  watching.Cancel();
  co_await watching.Join();
}

void OtherWebhooks::BeginList() { listed_.clear(); }

void OtherWebhooks::Upsert(const json::Value& object) {
  std::string name = NameOfConfiguration(object);
  if (name == own_) return;
  timeouts_[name] = LongestOf(object);
  listed_.insert(std::move(name));
  Look();
}

void OtherWebhooks::Remove(const json::Value& object) {
  timeouts_.erase(NameOfConfiguration(object));
  Look();
}

void OtherWebhooks::EndList() {
  std::erase_if(timeouts_, [this](const auto& known) { return !listed_.contains(known.first); });
  listed_.clear();
  const bool first = !std::exchange(synced_, true);
  if (first) known_ = Known();  // replaces the default, so no request depends on it
  Look();
}

void OtherWebhooks::OnState() {
  SayForbidden();
  Look();
}

base::Duration OtherWebhooks::Known() const {
  base::Duration longest = synced_ ? base::Duration() : kDefault;
  for (const auto& [name, timeout] : timeouts_) longest = std::max(longest, timeout);
  return longest;
}

// True if the watch may have missed changes for kPatience: a short gap changes nothing.
bool OtherWebhooks::IsBlind() {
  const base::TimePoint now = scheduler_.Now();
  const informers::ReflectorState& state = reflector_->state();
  const bool behind = state.trouble || state.gap.ShownAt(now, kCatchesUp) > now;
  if (!behind) {
    behind_since_.reset();
  } else if (!behind_since_) {
    behind_since_ = now;
  }
  return behind && now - *behind_since_ >= kPatience;
}

// Lowers known_ only when requests that began before the last change have ended.
void OtherWebhooks::Look() {
  const base::TimePoint now = scheduler_.Now();
  const base::Duration before = std::exchange(now_known_, Known());
  const bool lower = now_known_ < known_;
  const bool changed = !lowered_ || now_known_ != before;
  if (lower && changed) lowered_ = now + known_ + kMargin;
  if (!lower || (!changed && *lowered_ <= now)) {
    known_ = now_known_;
    lowered_.reset();
  }
  Become(IsBlind() ? base::Duration(kMost) : known_);
}

void OtherWebhooks::Become(base::Duration longest) {
  if (std::exchange(longest_, longest) == longest) return;
  LOG(INFO) << "the API server may wait for other validating webhooks longest="
            << base::FormatDuration(std::chrono::duration_cast<std::chrono::milliseconds>(longest));
  if (listener_) listener_(longest);
}

void OtherWebhooks::SayForbidden() {
  const auto& trouble = reflector_->state().trouble;
  if (!trouble || !trouble->Is(base::ErrorCode::kForbidden)) return;
  if (std::exchange(said_forbidden_, true)) return;
  LOG(WARNING) << "how long the API server waits for other validating webhooks is not known, so "
                  "reservations whose objects are not stored are held as if it were "
               << kMost.count() << " s; grant list and watch of validatingwebhookconfigurations";
}

}  // namespace webhook
