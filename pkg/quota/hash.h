#pragma once

// Hashing for the ledger's tables: 64-bit words are mixed so that every bit of the input affects
// every bit of the result (the finalizer of SplitMix64). All of it can be inverted: who writes a
// text chooses its hash. So a hash table of what clients of the API server write needs a random
// `seed` (Facts::Hash()), or must be an ordered container.

#include <cstdint>
#include <string_view>

namespace quota {

constexpr std::uint64_t Mix(std::uint64_t word) {
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9U;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebU;
  return word ^ (word >> 31);
}

constexpr std::uint64_t Combine(std::uint64_t seed, std::uint64_t word) {
  return Mix(seed * 0x9e3779b97f4a7c15U + word + 1);
}

// Hashes length and bytes of `text`, eight at a time.
constexpr std::uint64_t HashText(std::string_view text, std::uint64_t seed = 0) {
  std::uint64_t hash = Combine(seed, text.size());
  while (!text.empty()) {
    std::uint64_t word = 0;
    const std::string_view bytes = text.substr(0, 8);
    for (const char c : bytes) word = word << 8 | static_cast<unsigned char>(c);
    hash = Combine(hash, word);
    text.remove_prefix(bytes.size());
  }
  return hash;
}

}  // namespace quota
