#include "pkg/admission/observer.h"

namespace admission {
namespace {

class Silent final : public Observer {
 public:
  void OnDecision(std::string_view, std::string_view, base::Duration) override {}
  void OnWarning(std::string_view) override {}
  void OnBatch(std::string_view, std::size_t, std::size_t) override {}
  void OnConflict(std::string_view) override {}
  void OnReservationsExpired(std::string_view, std::size_t) override {}
};

}  // namespace

Observer& NoObserver() {
  static Silent silent;
  return silent;
}

}  // namespace admission
