#pragma once

// Waiting for facts. A test never waits for time: it names the fact and how long it may take at
// most.

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace e2e {

using namespace std::chrono_literals;

// How long anything may take that happens within a second when all is well. Longer if the programs
// under test are sanitized.
std::chrono::milliseconds Patience();
// `duration`, stretched in the same way.
std::chrono::milliseconds Stretched(std::chrono::milliseconds duration);

// Looks until `done` is true; false if it never was within `timeout`. Without an interval it looks
// every 10 ms at first, and less often the longer it waits: a look asks a server, and many tests
// wait at once.
bool PollUntil(const std::function<bool()>& done, std::chrono::milliseconds timeout,
               std::optional<std::chrono::milliseconds> interval = std::nullopt);

// Looks until `missing` returns "" ; throws with `fact` and the last answer of `missing` when it
// never does.
void Eventually(const std::string& fact, const std::function<std::string()>& missing,
                std::chrono::milliseconds timeout = Patience());

// Looks for the whole of `period`; throws with the first non-empty answer of `broken`.
void Always(const std::string& fact, const std::function<std::string()>& broken,
            std::chrono::milliseconds period);

}  // namespace e2e
