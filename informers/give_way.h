#pragma once

// Lets other coroutines run while a large read is processed. Decoding one read and notifying its
// consumers takes several milliseconds, and an admission request needs several turns of the event
// loop. No state; any thread.

#include <cstddef>
#include <string_view>

#include "pkg/base/error.h"
#include "pkg/base/scheduler.h"

namespace informers {

// Passes the bytes of one read to `take` in pieces of 16 KiB, and yields to the event loop after
// each full piece. A small read is one piece and does not yield. `bytes` must outlive the call.
// Errors: those of `take`.
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
