#include "pkg/accounting/reservation_list.h"

#include <catch2/catch.hpp>

#include "tests/pkg/accounting/accounting_fixture.h"

namespace reservation_list_test {

using namespace accounting_test;

namespace {

constexpr std::string_view kUid = "0b9c7b1e-6c2f-4d0e-9a55-3f1a2b4c5d6e";

base::Result<ReservationList> Parse(std::string_view text) {
  return ReservationList::Parse(text, kUid);
}

ResourceList RandomAmounts(std::mt19937_64& random) {
  ResourceList amounts;
  const char* const texts[] = {"1", "500m", "5Gi", "1n",
                               "0", "12e3", "1E",  "170141183460469231731"};
  const char* const names[] = {"pods", "requests.cpu", "count/widgets.example.com", "a\"b\\é\n"};
  for (const char* name : names) {
    if (random() % 2) amounts.Set(name, Quantity::Parse(texts[random() % 8]).value());
  }
  return amounts;
}

ReservationList RandomList(std::mt19937_64& random) {
  ReservationList list;
  const std::size_t entries = random() % 6;
  for (std::size_t n = 0; n < entries; ++n) {
    Reservation entry{
        .by = random() % 2 ? "7f3a" : "c0\"19", .n = n * 3, .usage = RandomAmounts(random)};
    const std::size_t kind = random() % 3;
    if (kind == 0) {
      entry.of = "machines.compute.ironcore.dev";
      for (std::size_t i = 0; i <= random() % 4; ++i) entry.objects.push_back({random()});
      if (random() % 2) entry.ns = random() % 2 ? "team-a" : "odd\"é";
      if (random() % 2) entry.from = std::to_string(random());
    } else if (kind == 1) {
      entry.unassigned = 1 + random() % 1000;
    }
    if (random() % 3 == 0) entry.further = R"("zone":"x","weight":1e30)";
    if (random() % 4 == 0) entry.webhook = std::chrono::seconds(1 + random() % 30);
    list.Add(std::move(entry));
  }
  for (const char* resource : {"pods", "services"}) {
    if (random() % 2) list.floor[resource] = std::to_string(1 + random() % 100000);
  }
  if (random() % 2) list.owner = kUid;
  if (random() % 3 == 0) list.further = R"("pool":{"a b":[1,null,"\u0001"]})";
  list.used = RandomAmounts(random);
  list.external = RandomAmounts(random);
  return list;
}

}  // namespace

TEST_CASE("reservations: a printed list parses to the same list", "[accounting]") {
  std::mt19937_64 random(7);
  for (int i = 0; i < 3'000; ++i) {
    const ReservationList list = RandomList(random);
    const std::string text = list.Print();
    INFO(text);
    const auto read = Parse(text);
    REQUIRE(read.has_value());
    CHECK(*read == list);
    CHECK(read->Print() == text);
  }
}

TEST_CASE("reservations: the text is the one in the documentation", "[accounting]") {
  ReservationList list;
  list.owner = kUid;
  list.Add({.by = "7f3a9c01",
            .n = 41,
            .of = "pods",
            .usage = Pods(1),
            .objects = {Object(1), Object(4)}});
  list.Add({.by = "7f3a9c01",
            .n = 42,
            .of = "pods",
            .usage = Pods(2),
            .objects = {Object(2)},
            .from = "18234"});
  list.Add({.by = "7f3a9c01",
            .n = 43,
            .of = "pods",
            .ns = "team-a",
            .usage = Pods(1),
            .objects = {Object(3)}});
  list.Add({.by = "c0193e5d", .n = 7, .of = "pods", .usage = Pods(64), .unassigned = 64});
  list.floor["pods"] = "18230";
  list.writes = 812;
  list.used = Pods(71);
  CHECK(list.Print() ==
        R"({"format":1,"uid":"0b9c7b1e-6c2f-4d0e-9a55-3f1a2b4c5d6e",)"
        R"("reservations":[{"by":"7f3a9c01","n":41,"usage":{"pods":"1"},"of":"pods",)"
        R"("objects":"AAAAAAAAAAE AAAAAAAAAAQ"},)"
        R"({"by":"7f3a9c01","n":42,"usage":{"pods":"2"},"of":"pods",)"
        R"("objects":"AAAAAAAAAAI","from":"18234"},)"
        R"({"like":0,"n":43,"ns":"team-a",)"
        R"("objects":"AAAAAAAAAAM"},)"
        R"({"by":"c0193e5d","n":7,"usage":{"pods":"64"},"of":"pods","unassigned":64}],)"
        R"("floor":{"pods":"18230"},"writes":812,"used":{"pods":"71"}})");
}

TEST_CASE("reservations: a damaged or foreign list is rejected as a whole", "[accounting]") {
  const char* const texts[] = {
      "",
      "null",
      "[]",
      "7",
      "{",
      R"({"used":7})",
      R"({"used":{"pods":"-1"}})",
      R"({"used":{"pods":"many"}})",
      R"({"format":-1})",
      R"({"format":1})",
      R"({"format":2})",
      R"({"format":"1","uid":"u"})",
      R"({"format":1,"uid":7})",
      R"({"format":1,"uid":""})",
      R"({"uid":"0b9c7b1e-6c2f-4d0e-9a55-3f1a2b4c5d6e"})",
      R"({"floor":{"pods":"012"}})",
      R"({"floor":{"pods":7}})",
      R"({"reservations":{}})",
      R"({"reservations":[7]})",
      R"({"reservations":[{"by":"","n":1,"usage":{}}]})",
      R"({"reservations":[{"by":"a","n":-1,"usage":{}}]})",
      R"({"reservations":[{"by":"a","n":1.5,"usage":{}}]})",
      R"({"reservations":[{"by":"a","n":1,"usage":{}},{"by":"a","n":1,"usage":{}}]})",
      R"({"reservations":[{"by":"a","n":1,"of":"pods","usage":{},"objects":"x"}]})",
      R"({"reservations":[{"by":"a","n":1,"of":"pods","usage":{},"objects":""}]})",
      R"({"reservations":[{"by":"a","n":1,"of":"pods","usage":{},"objects":"AAAAAAAAAAE "}]})",
      R"({"reservations":[{"by":"a","n":1,"of":"pods","usage":{},"objects":["AAAAAAAAAAE"]}]})",
      R"({"reservations":[{"by":"a","n":1,"usage":{},"objects":"AAAAAAAAAAE"}]})",
      R"({"reservations":[{"by":"a","n":1,"usage":{},"from":"7"}]})",
      R"({"reservations":[{"by":"a","n":1,"of":"pods","usage":{},"ns":"team-a","unassigned":1}]})",
      R"({"reservations":[{"by":"a","n":1,"usage":{},"ns":"team-a"}]})",
      R"({"reservations":[{"by":"a","n":1,"usage":{},"webhook":31}]})",
      R"({"reservations":[{"like":0,"n":1}]})",
      R"({"reservations":[{"by":"a","n":1,"usage":{}},{"like":1,"n":2}]})",
      R"({"reservations":[{"by":"a","n":1,"usage":{}},{"like":-1,"n":2}]})",
      R"({"reservations":[{"by":"a","n":1,"usage":{}},{"like":0,"n":1}]})",
      R"({"reservations":[{"by":"a","n":1,"usage":{}},{"like":0,"by":"a","n":2}]})",
      R"({"reservations":[{"by":"a","n":1,"usage":{}},{"like":0,"n":2,"usage":{}}]})",
  };
  for (const char* text : texts) {
    INFO(text);
    CHECK_FALSE(Parse(text).has_value());
  }
  CHECK_FALSE(Parse(std::string(300'000, ' ')).has_value());
}

TEST_CASE("reservations: a list is of one quota", "[accounting]") {
  ReservationList list;
  list.Add(Creation(1, {Object(1)}));
  const std::string before = list.Print();  // of format 0
  list.owner = kUid;
  CHECK(Parse(before).has_value());
  CHECK(Parse(list.Print()).has_value());
  for (const std::string_view other : {"0b9c7b1e-6c2f-4d0e-9a55-3f1a2b4c5d6f", "0b9c", ""}) {
    const auto read = ReservationList::Parse(list.Print(), other);
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().Is(base::ErrorCode::kNotFound));
  }
}

TEST_CASE("reservations: a list of a later format is told from a damaged one", "[accounting]") {
  const std::string owner = R"("uid":")" + std::string(kUid) + "\"";
  const auto later = Parse(R"({"format":2,)" + owner + R"(,"used":"all","reservations":7})");
  REQUIRE_FALSE(later.has_value());
  CHECK(later.error().Is(base::ErrorCode::kInvalid));
  CHECK(later.error().message ==
        "a later version of quota-controller-manager wrote it in format 2; this version does not "
        "reserve in this quota");
  // of another quota: then its format does not matter
  const auto copy = ReservationList::Parse(R"({"format":2,)" + owner + "}", "other");
  REQUIRE_FALSE(copy.has_value());
  CHECK(copy.error().Is(base::ErrorCode::kNotFound));
}

TEST_CASE("reservations: members of a later version are kept as they are", "[accounting]") {
  const std::string text =
      R"({"format":1,"uid":"0b9c7b1e-6c2f-4d0e-9a55-3f1a2b4c5d6e",)"
      R"("reservations":[{"by":"a","n":1,"usage":{"pods":"3"},"pool":{"size":3}},)"
      R"({"by":"a","n":2,"usage":{"pods":"1"},"of":"pods","objects":"AAAAAAAAAAE","zone":"x"},)"
      R"({"like":1,"n":3,"objects":"AAAAAAAAAAI","zone":"y"}],)"
      R"("writes":7,"used":{"pods":"9"},"epoch":12,"note":["a",{}]})";
  const auto list = Parse(text);
  REQUIRE(list.has_value());
  CHECK(list->Print() == text);
  // An entry of a kind that nobody knows counts what it says.
  CHECK(PodsOf(accounting::Outstanding(*list, FakeView())) == 5);
  ReservationList settled = *list;
  FakeView view;
  view.Show(8, Object(1), 1);
  accounting::Settle(settled, view);
  CHECK(settled.entries().size() == 2);
  CHECK(settled.Print().find(R"("epoch":12)") != std::string::npos);
}

TEST_CASE("reservations: a number that cannot be counted on from is no count", "[accounting]") {
  CHECK_FALSE(Parse(R"({"writes":9223372036854775807,"reservations":[]})").has_value());
  CHECK(Parse(R"({"writes":4611686018427387904,"reservations":[]})").has_value());
}

TEST_CASE("reservations: unknown members are kept up to a bound", "[accounting]") {
  const std::string large(ReservationList::kMostFurther, 'x');
  std::string text = R"({"large":")" + large + R"(","small":1,"reservations":[)";
  for (int n = 0; n < 400; ++n) {
    text += (n > 0 ? "," : "") + (R"({"by":"a","usage":{},"n":)" + std::to_string(n)) +
            R"(,"zone":"0123456789"})";
  }
  const auto list = Parse(text + "]}");
  REQUIRE(list.has_value());
  CHECK(list->further == R"("small":1)");
  std::size_t bytes = list->further.size();
  for (const Reservation& entry : list->entries()) bytes += entry.further.size();
  CHECK(bytes > ReservationList::kMostFurther / 2);
  CHECK(bytes <= ReservationList::kMostFurther);
  CHECK(Parse(list->Print()).value() == *list);
}

TEST_CASE("reservations: random damage is rejected or parsed, and never crashes", "[accounting]") {
  std::mt19937_64 random(11);
  for (int i = 0; i < 5'000; ++i) {
    std::string text = RandomList(random).Print();
    for (std::size_t k = 0; k <= random() % 3; ++k) {
      const std::size_t at = random() % text.size();
      random() % 2 ? text.erase(at, 1 + random() % 5)
                   : text.insert(at, 1, static_cast<char>(random()));
      if (text.empty()) text = "{";
    }
    const auto read = Parse(text);
    if (read) CHECK(Parse(read->Print()).has_value());
  }
}

TEST_CASE("reservations: an object is granted the largest amount of each name", "[accounting]") {
  ReservationList list;
  list.Add(Growth(1, Object(1), 5, "10"));
  list.Add(Growth(2, Object(1), 3, "11"));
  list.Add(Creation(3, {Object(2)}));
  CHECK(list.Granted(Object(1), Pods(3)) == Pods(5));
  CHECK(list.Granted(Object(2), {}) == Pods(1));
  CHECK(list.Granted(Object(3), {}).empty());
  CHECK(list.Remove("a", 1, Object(1)));
  CHECK_FALSE(list.Remove("a", 1, Object(1)));
  CHECK(list.Granted(Object(1), {}) == Pods(3));
  CHECK(list.Find("a", 1) == nullptr);
}

TEST_CASE("reservations: merging keeps the bounds and never lowers the outstanding amount",
          "[accounting]") {
  std::mt19937_64 random(3);
  const accounting::Bounds bounds{.objects = 40, .bytes = 6'000, .merged = 3};
  for (int round = 0; round < 100; ++round) {
    ReservationList list;
    FakeView view;
    std::uint64_t n = 0;
    std::uint64_t version = 100;
    for (int step = 0; step < 120; ++step) {
      const Uid object = Object(random() % 60);
      ++n;
      list.Add(random() % 2 ? Creation(n, {object, Object(100 + n)})
                            : Growth(n, object, 1 + static_cast<std::int64_t>(random() % 9),
                                     std::to_string(version)));
      if (random() % 4 == 0) {
        view.Show(++version, object, static_cast<std::int64_t>(random() % 5), random() % 9 == 0);
      }
      const std::int64_t before = PodsOf(accounting::Outstanding(list, view));
      const FakeView later = [&] {
        FakeView shown = view;
        for (int i = 0; i < 5; ++i) shown.Show(++version, Object(random() % 60), 1);
        return shown;
      }();
      const std::int64_t before_later = PodsOf(accounting::Outstanding(list, later));
      list.Merge(bounds, "m", ++n);
      CHECK(list.objects() <= bounds.objects);
      CHECK(list.Print().size() <= bounds.bytes);
      CHECK(PodsOf(accounting::Outstanding(list, view)) >= before);
      CHECK(PodsOf(accounting::Outstanding(list, later)) >= before_later);
      const auto merged = std::ranges::count_if(
          list.entries(), [](const Reservation& entry) { return entry.objects.empty(); });
      CHECK(merged <= 3);
    }
  }
}

TEST_CASE("reservations: a merged entry is held for the slowest webhook of its parts",
          "[accounting]") {
  ReservationList list;
  for (const std::uint64_t n : {1, 2, 3}) {
    Reservation entry = Creation(n, {Object(n)});
    entry.webhook = std::chrono::seconds(n == 2 ? 30 : 10);
    list.Add(std::move(entry));
  }
  CHECK(list.Merge({.objects = 0}, "m", 1));
  REQUIRE(list.entries().size() == 1);
  CHECK(list.entries().front().webhook == std::chrono::seconds(30));
}

TEST_CASE("reservations: creations in many namespaces take few bytes each", "[accounting]") {
  ReservationList list;
  for (std::uint64_t n = 1; n <= 400; ++n) {
    Reservation entry = Creation(n, {Object(n)});
    entry.ns = "bench-" + std::to_string(n);
    for (const char* name : {"cpu", "limits.cpu", "limits.memory", "memory", "requests.memory"}) {
      entry.usage.Set(name, Quantity::FromInt(static_cast<std::int64_t>(n % 20)));
    }
    list.Add(std::move(entry));
  }
  CHECK_FALSE(list.Merge({}, "a", 1'000));
  CHECK(list.Print().size() < 50'000);
  CHECK(Parse(list.Print()).value() == list);
}

TEST_CASE("reservations: a thousand objects fit", "[accounting]") {
  ReservationList list;
  std::vector<Uid> objects;
  for (std::uint64_t i = 0; i < 1'000; ++i) objects.push_back(Object(i));
  list.Add(Creation(1, objects));
  CHECK_FALSE(list.Merge({}, "a", 2));
  CHECK(list.Print().size() < 13'000);
  list.Add(Creation(3, {Object(1'001)}));
  CHECK(list.Merge({}, "a", 4));
  CHECK(list.objects() <= 1'000);
}

// An entry that is like another one takes few bytes of the text, and all amounts in memory.
TEST_CASE("reservations: the amounts of alike entries are bounded", "[accounting]") {
  ResourceList usage;
  for (int i = 0; i < 1'000; ++i) {
    usage.Set("requests.example.com/" + std::to_string(i), Quantity::FromInt(1));
  }
  ReservationList list;
  const auto add = [&](std::uint64_t n) {
    Reservation entry = Creation(n, {Object(n)});
    entry.usage = usage;
    list.Add(std::move(entry));
  };
  for (std::uint64_t n = 1; n <= 32; ++n) add(n);
  CHECK_FALSE(list.Merge({}, "m", 1));
  for (std::uint64_t n = 33; n <= 65; ++n) add(n);
  list.owner = kUid;
  REQUIRE(list.Print().size() < accounting::Bounds().bytes);
  CHECK(Parse(list.Print()).value() == list);  // of a version without this bound
  add(66);
  CHECK(Parse(list.Print()).error().message == "the entries have too many amounts");
  CHECK(list.Merge({}, "m", 1));
  CHECK(list.amounts() <= accounting::Bounds().amounts);
  CHECK(list.Reserved().Get("requests.example.com/7") == Quantity::FromInt(66));
}

}  // namespace reservation_list_test
