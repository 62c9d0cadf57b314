#include "controllers/quota/events/once_log.h"

#include <glog/logging.h>

namespace controllers {

void OnceLog::Set(std::string_view what, const std::string& subject, const std::string& message) {
  if (message.empty()) {
    const auto known = said_.find(subject);
    if (known == said_.end()) return;
    std::erase_if(known->second, [&](const auto& said) { return said.first == what; });
    if (known->second.empty()) said_.erase(known);
    return;
  }
  const auto [said, added] = said_[subject].try_emplace(std::string(what), message);
  if (!added && std::exchange(said->second, message) == message) return;
  LOG(WARNING) << what << " " << subject << " fails quota_api=" << quota_api_ << " error=\""
               << message << "\"";
}

}  // namespace controllers
