#include "tests/fuzz/target.h"

#include <algorithm>

namespace fuzz {
namespace {

// Created at first use: files register before main(), in any order.
std::vector<Target>& Registered() {
  static std::vector<Target> targets;
  return targets;
}

}  // namespace

const std::vector<Target>& Targets() { return Registered(); }

bool Register(const char* name, Function run) {
  std::vector<Target>& targets = Registered();
  const auto place = std::find_if(targets.begin(), targets.end(), [&](const Target& other) {
    return std::string_view(other.name) > name;
  });
  targets.insert(place, {name, run});
  return true;
}

void RequireSame(std::string_view a, std::string_view b, const char* what) {
  if (a == b) return;
  std::string text(what);
  text.append("\n  one:   ").append(a).append("\n  other: ").append(b);
  throw Broken(text);
}

std::vector<std::string_view> Parts(std::string_view input, std::size_t count) {
  std::vector<std::string_view> parts;
  while (parts.size() + 1 < count) {
    const std::size_t end = input.find(kBetweenParts);
    parts.push_back(input.substr(0, end));
    input = end == std::string_view::npos ? std::string_view()
                                          : input.substr(end + kBetweenParts.size());
  }
  parts.push_back(input);
  return parts;
}

// FNV-1a.
Chance::Chance(std::string_view input) : state_(0xcbf29ce484222325U) {
  for (const char c : input) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
}

// splitmix64.
std::size_t Chance::Below(std::size_t bound) {
  std::uint64_t mixed = (state_ += 0x9e3779b97f4a7c15U);
  mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
  return (mixed ^ (mixed >> 31U)) % bound;
}

std::vector<std::string> Pieces(std::string_view text, Chance& chance) {
  constexpr std::size_t kFine[] = {1, 3, 17, 150};
  constexpr std::size_t kCoarse = 1000;
  constexpr std::size_t kStretch = 60;
  const std::size_t fine = kFine[chance.Below(std::size(kFine))];
  const bool everywhere = chance.OneIn(8);
  const std::size_t begin = everywhere ? 0 : chance.Below(text.size() + 1);
  const std::size_t end = everywhere ? text.size() : begin + kStretch;
  std::vector<std::string> pieces;
  for (std::size_t at = 0; at < text.size(); at += pieces.back().size()) {
    std::size_t length = 1 + chance.Below(at < begin || at >= end ? kCoarse : fine);
    if (at < begin) length = std::min(length, begin - at);
    pieces.emplace_back(text.substr(at, length)).shrink_to_fit();
  }
  return pieces;
}

}  // namespace fuzz
