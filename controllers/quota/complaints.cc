#include "controllers/quota/complaints.h"

#include <glog/logging.h>

namespace controllers {

void Complaints::Say(const std::string& about, const std::string& message) {
  if (message.empty()) return Forget(about);
  std::string& said = said_[about];
  if (said == message) return;
  said = message;
  LOG(WARNING) << about << " fails quota_api=" << quota_api_ << " error=\"" << message << "\"";
}

}  // namespace controllers
