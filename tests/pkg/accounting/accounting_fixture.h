#pragma once

// Lists and views for tests of accounting.

#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "pkg/accounting/settle.h"

namespace accounting_test {

using accounting::ObjectRef;
using accounting::Reservation;
using accounting::ReservationList;
using accounting::ResourceList;
using accounting::Uid;
using quantity::Quantity;

inline ResourceList Pods(std::int64_t count) { return {{"pods", Quantity::FromInt(count)}}; }
inline Uid Object(std::uint64_t number) { return {number}; }

inline Reservation Creation(std::uint64_t n, std::vector<Uid> objects, std::int64_t each = 1) {
  return {.by = "a", .n = n, .of = "pods", .usage = Pods(each), .objects = std::move(objects)};
}

inline Reservation Growth(std::uint64_t n, const Uid& object, std::int64_t to, std::string from,
                          std::int64_t stored = 0) {
  return {.by = "a",
          .n = n,
          .of = "pods",
          .usage = Pods(to),
          .objects = {object},
          .from = std::move(from),
          .stored = stored > 0 ? Pods(stored) : ResourceList()};
}

// All of one resource.
class FakeView final : public accounting::View {
 public:
  struct Shown {
    std::uint64_t version = 0;
    std::int64_t usage = 0;
    bool gone = false;
  };
  bool Follows(std::string_view) const override { return follows; }
  bool Ignores(std::string_view resource) const override { return resource == "ignored"; }
  bool HasShown(const ObjectRef& object) const override {
    return IsHere(object) && shown.contains(object.uid);
  }
  bool IsPast(const ObjectRef& object, std::string_view version) const override {
    const auto at = shown.find(object.uid);
    return IsHere(object) && at != shown.end() &&
           (at->second.gone || at->second.version > std::stoull(std::string(version)));
  }
  ResourceList Observed(const ObjectRef& object) const override {
    const auto at = shown.find(object.uid);
    return !IsHere(object) || at == shown.end() || at->second.gone ? ResourceList()
                                                                   : Pods(at->second.usage);
  }
  std::string Newest(std::string_view) const override { return std::to_string(newest); }
  bool Reaches(std::string_view, std::string_view version) const override {
    return newest >= std::stoull(std::string(version));
  }
  void Show(std::uint64_t version, const Uid& uid, std::int64_t usage, bool gone = false) {
    shown[uid] = {version, usage, gone};
    newest = version;
  }
  bool IsHere(const ObjectRef& object) const { return object.ns == ns; }
  std::int64_t Sum() const {
    std::int64_t sum = 0;
    for (const auto& [uid, object] : shown) sum += object.gone ? 0 : object.usage;
    return sum;
  }

  bool follows = true;
  std::string ns;  // of all objects
  std::map<Uid, Shown> shown;
  std::uint64_t newest = 0;
};

inline std::int64_t PodsOf(const ResourceList& list) {
  return static_cast<std::int64_t>(list.Get("pods").nanos() / quantity::kNanosPerOne);
}

}  // namespace accounting_test
