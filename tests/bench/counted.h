#pragma once

// What of a program's work is counted: callgrind is told these two functions by name
// (--toggle-collect), so that it counts what runs inside of Counted() and is not inside of an
// Uncounted() there. Without callgrind they only call.

#include <functional>

namespace bench {

void Counted(const std::function<void()>& work);
void Uncounted(const std::function<void()>& work);

}  // namespace bench
