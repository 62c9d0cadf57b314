#include "pkg/quota/uid_table.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "pkg/quota/hash.h"

namespace quota::uid_table_test {
namespace {

using Model = std::map<Uid, std::pair<std::uint32_t, std::uint8_t>>;

void RequireEqual(const UidTable& table, const Model& model) {
  REQUIRE(table.size() == model.size());
  for (const auto& [uid, entry] : model) {
    const std::size_t slot = table.Find(uid);
    REQUIRE(slot != UidTable::kNone);
    REQUIRE(table.uid(slot) == uid);
    REQUIRE(table.value(slot) == entry.first);
    REQUIRE(table.mark(slot) == entry.second);
  }
}

TEST_CASE("uid table: it behaves like a map for any sequence of calls", "[quota]") {
  std::mt19937_64 random(7);
  UidTable table;
  Model model;
  for (int phase = 0; phase < 6; ++phase) {
    const bool growing = phase % 2 == 0;
    for (int i = 0; i < 3'000; ++i) {
      const Uid uid{quota::Mix(random() % 2'000)};
      const std::size_t slot = table.Find(uid);
      REQUIRE((slot != UidTable::kNone) == model.contains(uid));
      const auto value = static_cast<std::uint32_t>(random() % 1000);
      const auto mark = static_cast<std::uint8_t>(random() % 3);
      if (slot == UidTable::kNone) {
        if (!growing && random() % 8 != 0) continue;
        table.Insert(uid, value, mark);
        model[uid] = {value, mark};
      } else if (growing) {
        table.SetValue(slot, value);
        table.SetMark(slot, mark);
        model[uid] = {value, mark};
      } else {
        table.Erase(slot);
        model.erase(uid);
      }
    }
    RequireEqual(table, model);
  }
}

TEST_CASE("uid table: the name of another entry is found while the entry is there", "[quota]") {
  std::mt19937_64 random(23);
  UidTable table;
  CHECK_FALSE(table.HasOther({1}, 5));
  std::map<Uid, NameMark> model;
  for (int i = 0; i < 4'000; ++i) {
    const Uid uid{quota::Mix(random() % 400)};
    const auto name = static_cast<NameMark>(1 + random() % 500);
    const std::size_t slot = table.Find(uid);
    const bool growing = i % 1'000 < 700;
    if (slot == UidTable::kNone && growing) {
      table.Insert(uid, 1, 0, kNoVersion, name);
      model[uid] = name;
    } else if (slot != UidTable::kNone && growing) {
      table.SetName(slot, name);
      model[uid] = name;
    } else if (slot != UidTable::kNone) {
      table.Erase(slot);
      model.erase(uid);
    }
    const auto asked = static_cast<NameMark>(1 + random() % 500);
    bool held = false;
    for (const auto& [other, its_name] : model) held |= its_name == asked && other != uid;
    REQUIRE(table.HasOther(uid, asked) == held);
  }
}

TEST_CASE("uid table: a sweep removes exactly the unmarked entries", "[quota]") {
  std::mt19937_64 random(11);
  // Many sizes, so that runs of entries across the end of the table occur.
  for (std::uint64_t size = 0; size < 300; ++size) {
    UidTable table;
    Model model;
    Model unmarked;
    for (std::uint64_t i = 0; i < size; ++i) {
      const Uid uid{random()};
      const auto mark = static_cast<std::uint8_t>(random() % 2);
      table.Insert(uid, static_cast<std::uint32_t>(i), mark);
      (mark == 1 ? model : unmarked)[uid] = {static_cast<std::uint32_t>(i), mark};
    }
    std::size_t removed = 0;
    const auto remove = [&](const Uid& uid, std::uint32_t value) {
      ++removed;
      REQUIRE(unmarked.at(uid).first == value);
    };
    const std::size_t most = 1 + size % 7 * 20;
    while (table.EraseUnmarked(1, most, remove) == most) continue;
    REQUIRE(removed == unmarked.size());
    RequireEqual(table, model);
  }
}

TEST_CASE("uid table: an entry takes at most 32 bytes at any size, and memory is released",
          "[quota]") {
  constexpr std::size_t kSlotBytes =
      sizeof(Uid) + sizeof(std::uint32_t) + sizeof(VersionMark) + sizeof(std::uint8_t);
  std::mt19937_64 random(13);
  UidTable table;
  std::vector<Uid> uids;
  std::size_t most = 0;
  for (std::size_t i = 0; i < 50'000; ++i) {
    uids.push_back({random()});
    table.Insert(uids.back(), 1, 0);
    if (i > 100) most = std::max(most, table.capacity() * kSlotBytes * 100 / table.size());
  }
  CHECK(most <= 32 * 100);
  for (std::size_t i = 0; i + 100 < uids.size(); ++i) table.Erase(table.Find(uids[i]));
  CHECK(table.size() == 100);
  CHECK(table.capacity() <= 300);
}

TEST_CASE("uid table: marks can be reset together", "[quota]") {
  UidTable table;
  table.ResetMarks();
  for (std::uint64_t i = 0; i < 20; ++i) table.Insert({quota::Mix(i)}, 1, 9);
  table.ResetMarks();
  for (std::uint64_t i = 0; i < 20; ++i) CHECK(table.mark(table.Find({quota::Mix(i)})) == 0);
}

}  // namespace
}  // namespace quota::uid_table_test
