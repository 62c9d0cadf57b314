#include "pkg/quota/uid_table.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

namespace quota {
namespace {

__extension__ typedef unsigned __int128 Uint128;

constexpr std::size_t kLeastCapacity = 8;

// Full at four fifths: with linear probing a hit then checks 3 slots on average, a miss 13.
constexpr bool IsFull(std::size_t size, std::size_t capacity) { return size * 5 >= capacity * 4; }
// Sparse enough to release memory. Well below the load after growth, so that a size that goes up
// and down does not rehash each time.
constexpr bool IsSparse(std::size_t size, std::size_t capacity) {
  return capacity > kLeastCapacity && size * 3 < capacity;
}

constexpr std::size_t kBlock = 64;

// Without a branch for each name, so that one instruction compares several of them.
bool BlockHas(const NameMark* names, NameMark name) {
  NameMark found = 0;
  for (std::size_t i = 0; i < kBlock; ++i) found |= static_cast<NameMark>(names[i] == name);
  return found != 0;
}

}  // namespace

// The hash scaled to the capacity, which is not a power of two.
std::size_t UidTable::Home(const Uid& uid) const {
  return static_cast<std::size_t>((static_cast<Uint128>(UidHash()(uid)) * capacity_) >> 64);
}

void UidTable::ResetMarks() { std::fill_n(marks_.get(), capacity_, std::uint8_t{0}); }

std::size_t UidTable::Find(const Uid& uid) const {
  if (capacity_ == 0) return kNone;
  for (std::size_t slot = Home(uid); Used(slot); slot = Next(slot)) {
    if (uids_[slot] == uid) return slot;
  }
  return kNone;
}

bool UidTable::HasOther(const Uid& uid, NameMark name) const {
  for (std::size_t begin = 0; begin < capacity_; begin += kBlock) {
    const std::size_t slots = std::min(kBlock, capacity_ - begin);
    const NameMark* const names = names_.get() + begin;
    if (slots == kBlock && !BlockHas(names, name)) continue;
    for (std::size_t i = 0; i < slots; ++i) {
      if (names[i] == name && uids_[begin + i] != uid) return true;
    }
  }
  return false;
}

void UidTable::Insert(const Uid& uid, std::uint32_t value, std::uint8_t mark, VersionMark version,
                      NameMark name) {
  CHECK_NE(value, kEmpty) << "an object whose slot would count as unused";
  if (IsFull(size_ + 1, capacity_)) {
    Rehash(std::max(kLeastCapacity, capacity_ + capacity_ / 2));
  }
  Place(uid, value, mark, version, name);
  ++size_;
}

void UidTable::Erase(std::size_t slot) {
  CHECK(slot < capacity_ && Used(slot)) << "an unused slot is erased";
  Unlink(slot);
  Shrink();
}

void UidTable::Place(const Uid& uid, std::uint32_t value, std::uint8_t mark, VersionMark version,
                     NameMark name) {
  std::size_t slot = Home(uid);
  while (Used(slot)) slot = Next(slot);
  uids_[slot] = uid;
  values_[slot] = value;
  versions_[slot] = version;
  names_[slot] = name;
  marks_[slot] = mark;
}

void UidTable::Unlink(std::size_t slot) {
  std::size_t hole = slot;
  for (std::size_t from = Next(hole); Used(from); from = Next(from)) {
    // An entry may move back to the hole unless its home lies behind the hole on the way to it.
    const std::size_t home = Home(uids_[from]);
    const bool home_behind =
        hole < from ? hole < home && home <= from : hole < home || home <= from;
    if (home_behind) continue;
    uids_[hole] = uids_[from];
    values_[hole] = values_[from];
    versions_[hole] = versions_[from];
    names_[hole] = names_[from];
    marks_[hole] = marks_[from];
    hole = from;
  }
  values_[hole] = kEmpty;
  names_[hole] = kNoName;
  --size_;
}

void UidTable::Shrink() {
  if (IsSparse(size_, capacity_)) Rehash(std::max(kLeastCapacity, size_ + size_ * 2 / 3));
}

void UidTable::Rehash(std::size_t capacity) {
  CHECK_GT(capacity, size_) << "too few slots";
  UidTable larger;
  larger.capacity_ = capacity;
  larger.size_ = size_;
  larger.uids_ = std::make_unique_for_overwrite<Uid[]>(capacity);
  larger.values_ = std::make_unique_for_overwrite<std::uint32_t[]>(capacity);
  larger.versions_ = std::make_unique_for_overwrite<VersionMark[]>(capacity);
  larger.names_ = std::make_unique_for_overwrite<NameMark[]>(capacity);
  larger.marks_ = std::make_unique_for_overwrite<std::uint8_t[]>(capacity);
  std::fill_n(larger.values_.get(), capacity, kEmpty);
  std::fill_n(larger.names_.get(), capacity, kNoName);
  std::size_t moved = 0;
  for (std::size_t slot = 0; slot < capacity_; ++slot) {
    if (!Used(slot)) continue;
    ++moved;
    larger.Place(uids_[slot], values_[slot], marks_[slot], versions_[slot], names_[slot]);
  }
  CHECK_EQ(moved, size_) << "other objects are held than were counted";
  *this = std::move(larger);
}

}  // namespace quota
