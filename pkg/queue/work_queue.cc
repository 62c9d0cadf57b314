#include "pkg/queue/work_queue.h"

#include <glog/logging.h>

namespace queue {
namespace {

class Silent final : public Observer {
 public:
  void Depth(std::size_t) override {}
  void Added() override {}
  void Waited(base::Duration) override {}
  void Worked(base::Duration) override {}
  void Retried() override {}
};

}  // namespace

Observer& NoObserver() {
  static Silent silent;
  return silent;
}

void FailBroken(const char* invariant) { LOG(FATAL) << "work queue: not so: " << invariant; }

}  // namespace queue
