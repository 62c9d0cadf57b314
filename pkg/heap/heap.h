#pragma once

// The allocator of a program that links this, jemalloc, and how it gives back what was freed.
//
// glibc's allocator was measured beside it with 50 000 quotas: it held the event loop for 12 to 20
// ms whenever it merged freed pieces, was asked how much is free, or gave that back. jemalloc gives
// back page by page as time passes, and took a fifth less memory and processor time.
//
// A build with a sanitizer keeps the sanitizer's allocator, and nothing here does anything.

#include <chrono>
#include <cstddef>

namespace heap {

// How long freed pages are kept for what is allocated next, at most.
inline constexpr std::chrono::milliseconds kDecay{3'000};

// Bytes of pages that are free and not yet given back. Zero in a build with a sanitizer. Any
// thread.
std::size_t FreeBytes();

// Gives back what is due by the time since it was freed: a part of kDecay later the same part of
// it. A page costs about half a microsecond, so call often while much is free. Any thread.
void GiveBackDue();

}  // namespace heap
