// The bytes of the lists that the controller writes, in virtual time.

#include "pkg/accounting/write_pace.h"

#include "tests/controllers/quota/charging_fixture.h"

namespace list_bytes_test {

using namespace std::chrono_literals;
using fixture::ChargingFixture;
using fixture::kPods;
using fixture::kQuotas;
using fixture::MakePod;
using fixture::MakeQuota;

namespace {

// The bytes of the lists in all writes since then.
std::size_t ListBytes(const ChargingFixture& f, std::size_t since) {
  std::size_t bytes = 0;
  for (std::size_t i = since; i < f.cluster.writes.size(); ++i) {
    const json::Value patch = json::Parse(f.cluster.writes[i].body).value();
    bytes += patch.StringAt({"metadata", "annotations", quota::kReservations}).size();
  }
  return bytes;
}

}  // namespace

TEST_CASE("write pace: lists of a lagging watch are written at 256 KiB a second", "[controllers]") {
  constexpr int kSeconds = 30;
  ChargingFixture f;
  f.cluster.Put(kQuotas, MakeQuota("q", {{"pods", "100k"}, {"requests.cpu", "1M"}}));
  f.RunFor(1s);
  f.cluster.Hold(kPods);
  f.cluster.patch_delay = 5ms;
  // Each creation uses another amount, so that the list soon has its longest length.
  const auto create = [&f](int number) {
    json::Value pod = MakePod("p", std::to_string(100 + number) + "m");
    pod.Make({"metadata", "uid"}) = "uid-" + std::to_string(number);
    f.Review(pod);
    f.RunFor(20ms);
  };
  int number = 0;
  while (number < 400) create(++number);
  const std::size_t begin = f.cluster.writes.size();
  for (int i = 0; i < kSeconds * 50; ++i) create(++number);
  const std::size_t bytes = ListBytes(f, begin);
  const std::size_t longest = accounting::Bounds().bytes;
  CHECK(bytes <=
        kSeconds * accounting::kListBytesASecond + accounting::kListBytesAtOnce + 2 * longest);
  CHECK(bytes >= kSeconds * accounting::kListBytesASecond / 2);
  // Nobody waits for longer than a write and a recount before.
  f.RunFor(1s);
  for (const auto& answer : f.answers) {
    REQUIRE(answer.has_value());
    CHECK(answer->kind == admission::Answer::Kind::kAllowed);
  }
}

}  // namespace list_bytes_test
