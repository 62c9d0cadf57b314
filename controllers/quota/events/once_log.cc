#include "controllers/quota/events/once_log.h"

#include <glog/logging.h>

#include "pkg/json/value.h"

namespace controllers {
namespace {

// Of ten thousand quotas with a lasting problem, a few tell of it again. The other lines are for
// what is new.
constexpr std::size_t kMostRepeated = base::LogLimit::kMost / 2;

}  // namespace

bool OnceLog::Set(std::string_view what, const std::string& subject, const std::string& message) {
  if (message.empty()) {
    const auto known = said_.find(subject);
    if (known == said_.end()) return false;
    std::erase_if(known->second, [&](const auto& said) { return said.first == what; });
    if (known->second.empty()) said_.erase(known);
    return false;
  }
  const base::TimePoint now = clock_.Now();
  const auto [entry, added] = said_[subject].try_emplace(std::string(what), Said{message, now});
  Said& said = entry->second;
  const bool again = !added && said.message == message;
  if (again && now < said.at + base::LogLimit::kPeriod) return false;
  said = {message, now};
  const auto more = lines_.Take(subject, now, again ? kMostRepeated : base::LogLimit::kMost);
  if (more) {
    LOG(WARNING) << what << " " << subject << " fails quota_api=" << quota_api_ << *more
                 << " error=" << json::Quote(message);
  }
  return !again || more.has_value();
}

}  // namespace controllers
