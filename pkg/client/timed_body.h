#pragma once

// A body that must end by a deadline, however it arrives. One thread; the clock must outlive it.

#include <memory>
#include <optional>
#include <string>

#include "pkg/base/clock.h"
#include "pkg/http/client.h"

namespace client {

class TimedBody final : public http::BodyStream {
 public:
  TimedBody(std::unique_ptr<http::BodyStream> body, const base::Clock& clock,
            base::TimePoint deadline)
      : body_(std::move(body)), clock_(clock), deadline_(deadline) {}
  // Errors: kTimeout after the deadline, besides those of the body.
  base::Task<base::Result<std::optional<std::string>>> Read(
      std::chrono::milliseconds timeout) override;

 private:
  std::unique_ptr<http::BodyStream> body_;
  const base::Clock& clock_;
  base::TimePoint deadline_;
};

}  // namespace client
