#include "controllers/quota/events/announcer.h"

#include <glog/logging.h>

#include <string>
#include <utility>

#include "pkg/json/value.h"

namespace controllers {

Announcer::Announcer(const TrackingContext& context, const quota::QuotaApi& api,
                     const QuotaControllerOptions& options)
    : context_(context), api_(api), options_(options) {}

bool Announcer::Say(const quota::Quota& quota, const Announcement& announcement) {
  if (context_.events != nullptr) {
    if (!options_.Leads() && !announcement.by_any) return false;
    const bool part = api_.part_of.has_value();
    const bool recorded = context_.events->Record(
        {.about = {.api_version = api_.KnownVersion(),
                   .kind = api_.KnownKind(),
                   .ns = quota.key.ns,
                   .name = quota.key.name,
                   .uid = part ? quota.whole_uid : quota.uid,
                   .resource_version = part ? "" : quota.resource_version},
         .type = announcement.type,
         .reason = announcement.reason,
         .message = (part ? "limits on names of UsageDefinitions: " : "") + announcement.message});
    if (!recorded) return false;
  }
  if (announcement.logged) Log(quota, announcement);
  return true;
}

// A parent may have thousands of children. Each has its event; the log names some of them.
void Announcer::Log(const quota::Quota& quota, const Announcement& announcement) {
  const std::string key = quota.key.ToString();
  const auto more = lines_.Take(key, context_.scheduler->Now());
  if (!more) return;
  const std::string text = " quota_api=" + api_.name + " quota=" + key +
                           " reason=" + announcement.reason + *more +
                           " why=" + json::Quote(announcement.message);
  if (announcement.type == client::EventType::kWarning) {
    LOG(WARNING) << "a quota is not in force" << text;
  } else {
    LOG(INFO) << "a quota is in force again" << text;
  }
}

}  // namespace controllers
