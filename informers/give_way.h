#pragma once

// Who takes in objects by the hundred lets others have the loop in between: to decode what one read
// brings, and to tell whom it concerns, takes several milliseconds, and others (an admission
// request) need several turns of the loop each. No state; any thread.

#include <cstddef>
#include <string_view>

#include "pkg/base/error.h"
#include "pkg/base/scheduler.h"

namespace informers {

// Hands what one read brought to `take`, piece by piece, with a turn of the loop after each whole
// one. A few bytes are one piece and cost nothing. `bytes` outlive the call. Errors: of `take`.
template <typename Take>
base::Task<base::Result<void>> TakeInPieces(std::string_view bytes, Take& take) {
  constexpr std::size_t kPiece = std::size_t{16} << 10;
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kPiece);
    bytes.remove_prefix(piece.size());
    const base::Result<void> taken = take(piece);
    if (!taken) co_return taken.error();
    if (piece.size() == kPiece) co_await base::NextTurn();
  }
  co_return base::Result<void>();
}

}  // namespace informers
