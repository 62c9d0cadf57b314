#pragma once

// Selects the counted part of a program's work. callgrind gets the names of these two functions
// (--toggle-collect), so that it counts what runs inside Counted(), except what runs inside
// Uncounted() there. Without callgrind they only call.

#include <functional>

namespace bench {

void Counted(const std::function<void()>& work);
void Uncounted(const std::function<void()>& work);

// Makes callgrind write what it has counted since the last call into a file of its own.
void WriteCount();

}  // namespace bench
