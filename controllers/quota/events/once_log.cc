#include "controllers/quota/events/once_log.h"

#include <glog/logging.h>

#include "pkg/base/reminder.h"

namespace controllers {
namespace {

// Of ten thousand quotas with the same problem, a few tell of it.
constexpr int kRepeated = 10;

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
  if (!added && said.message == message) {
    if (now < said.at + base::Reminder::kAgain) return false;
    if (now >= repeating_since_ + base::Reminder::kAgain) {
      repeating_since_ = now;
      repeated_ = 0;
    }
    if (repeated_++ >= kRepeated) return false;
  }
  said = {message, now};
  LOG(WARNING) << what << " " << subject << " fails quota_api=" << quota_api_ << " error=\""
               << message << "\"";
  return true;
}

}  // namespace controllers
