#pragma once

// A map from uid to a 4-byte value, 4-byte marks of version and name, and a 1-byte mark: what a
// ledger keeps for each object.
//
// Open addressing with linear probing in parallel arrays, so no byte is padding. A slot takes 21
// bytes, and between half and four fifths of the slots are in use: 27 to 40 bytes for each object.
// std::unordered_map needs 48 bytes and an allocation. unordered_flat_map of Boost 1.81, the
// version in Debian 12, pads an entry to 24 bytes, adds one and doubles when it is full: 29 to 57.
// Neither can remove entries during a walk without rehashing. Here a removal moves the following
// entries back, so there are no tombstones. A full table grows by half, not to the double, to keep
// the bound above.
//
// One thread. Slots are valid until the next Insert or Erase.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "pkg/quota/name_mark.h"
#include "pkg/quota/uid.h"
#include "pkg/quota/version_mark.h"

namespace quota {

class UidTable {
 public:
  static constexpr std::size_t kNone = ~std::size_t{0};

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }

  // The slot of `uid`, or kNone.
  [[nodiscard]] std::size_t Find(const Uid& uid) const;
  // REQUIRES: Find(uid) == kNone; value != kEmpty.
  void Insert(const Uid& uid, std::uint32_t value, std::uint8_t mark,
              VersionMark version = kNoVersion, NameMark name = kNoName);
  void Erase(std::size_t slot);

  [[nodiscard]] bool Used(std::size_t slot) const { return values_[slot] != kEmpty; }
  [[nodiscard]] const Uid& uid(std::size_t slot) const { return uids_[slot]; }
  [[nodiscard]] std::uint32_t value(std::size_t slot) const { return values_[slot]; }
  [[nodiscard]] std::uint8_t mark(std::size_t slot) const { return marks_[slot]; }
  [[nodiscard]] VersionMark version(std::size_t slot) const { return versions_[slot]; }
  void SetVersion(std::size_t slot, VersionMark version) { versions_[slot] = version; }
  void SetName(std::size_t slot, NameMark name) { names_[slot] = name; }
  void SetValue(std::size_t slot, std::uint32_t value) { values_[slot] = value; }
  void SetMark(std::size_t slot, std::uint8_t mark) { marks_[slot] = mark; }

  // Removes at most `most` entries whose mark is not `mark`, each after a call of `removed(uid,
  // value)`. Nothing is copied. Returns their number: less than `most` means that there are no
  // more.
  template <typename Removed>
  std::size_t EraseUnmarked(std::uint8_t mark, std::size_t most, Removed removed) {
    std::size_t erased = 0;
    // Erase moves entries from later slots, or, across the end, from slots that were already
    // checked and kept. So a slot is checked again after its entry was erased, and no entry is
    // missed.
    for (std::size_t slot = 0; slot < capacity_ && erased < most;) {
      if (!Used(slot) || marks_[slot] == mark) {
        ++slot;
        continue;
      }
      removed(uids_[slot], values_[slot]);
      Unlink(slot);
      ++erased;
    }
    Shrink();
    return erased;
  }

  // True if an entry with another uid has this name, which is not kNoName. Looks at all slots: 4
  // bytes of each, so 100 000 take about ten microseconds.
  [[nodiscard]] bool HasOther(const Uid& uid, NameMark name) const;

  // Every entry's mark becomes 0.
  void ResetMarks();

  static constexpr std::uint32_t kEmpty = ~std::uint32_t{0};

 private:
  [[nodiscard]] std::size_t Home(const Uid& uid) const;
  [[nodiscard]] std::size_t Next(std::size_t slot) const {
    return slot + 1 == capacity_ ? 0 : slot + 1;
  }
  void Place(const Uid& uid, std::uint32_t value, std::uint8_t mark, VersionMark version,
             NameMark name);
  void Unlink(std::size_t slot);
  void Shrink();
  void Rehash(std::size_t capacity);

  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  std::unique_ptr<Uid[]> uids_;              // undefined for unused slots, like the others
  std::unique_ptr<std::uint32_t[]> values_;  // kEmpty: the slot is unused
  std::unique_ptr<VersionMark[]> versions_;
  std::unique_ptr<NameMark[]> names_;  // kNoName in unused slots
  std::unique_ptr<std::uint8_t[]> marks_;
};

}  // namespace quota
