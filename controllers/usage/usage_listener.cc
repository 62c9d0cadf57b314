#include "controllers/usage/usage_listener.h"

#include <glog/logging.h>

#include <algorithm>

namespace controllers {

void UsageListeners::Add(UsageListener& listener) {
  CHECK(std::ranges::find(all_, &listener) == all_.end());
  all_.push_back(&listener);
}

void UsageListeners::Remove(const UsageListener& listener) {
  CHECK_EQ(std::erase(all_, &listener), 1U);
}

}  // namespace controllers
