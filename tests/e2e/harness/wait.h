#pragma once

// Waiting for facts. A test never waits for time: it names the fact and the longest time that it
// may take.

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace e2e {

using namespace std::chrono_literals;

// The longest time for events that normally happen within a second. It is longer if the programs
// under test are sanitized.
std::chrono::milliseconds Patience();
// Returns `duration`, extended in the same way if the programs under test are sanitized.
std::chrono::milliseconds Stretched(std::chrono::milliseconds duration);

// Checks until `done` is true; false if it never was within `timeout`. Without an interval it
// checks every 10 ms at first, and less often the longer it waits, because each check is a request
// and many tests wait at once.
bool PollUntil(const std::function<bool()>& done, std::chrono::milliseconds timeout,
               std::optional<std::chrono::milliseconds> interval = std::nullopt);

// Checks until `missing` returns ""; throws with `fact` and the last result of `missing` if it
// never does.
void Eventually(const std::string& fact, const std::function<std::string()>& missing,
                std::chrono::milliseconds timeout = Patience());

// Checks during the whole `period`; throws with the first non-empty result of `broken`.
void Always(const std::string& fact, const std::function<std::string()>& broken,
            std::chrono::milliseconds period);

}  // namespace e2e
