#include "tests/simulation/quiet_log.h"

#include <glog/logging.h>

namespace simulation {

void QuietLog() { FLAGS_minloglevel = google::GLOG_FATAL; }

}  // namespace simulation
