#include "pkg/protobuf/splitter.h"

#include <catch2/catch.hpp>
#include <vector>

#include "tests/pkg/protobuf/wire.h"

namespace protobuf::splitter_test {
namespace {

constexpr std::size_t kMax = 1000;

MessageSink Into(std::vector<std::string>& seen) {
  return [&seen](std::string_view message) -> base::Result<void> {
    seen.emplace_back(message);
    return {};
  };
}

std::string PodList(const std::vector<std::string>& items) {
  std::string list = wire::Bytes(1, wire::Bytes(2, "17").append(wire::Bytes(3, "next")));
  for (const std::string& item : items) list.append(wire::Bytes(2, item));
  return wire::Enveloped("PodList", list);
}

const std::vector<std::string> kItems{"a", "", std::string(300, 'c'), std::string("\0\x01", 2)};

TEST_CASE("protobuf lists: items come one by one wherever the bytes are cut", "[protobuf]") {
  const std::string bytes = PodList(kItems);
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    ListSplitter splitter(kMax);
    std::vector<std::string> seen;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      REQUIRE(splitter.Feed(std::string_view(bytes).substr(at, piece), Into(seen)).has_value());
    }
    REQUIRE(seen == kItems);
    const auto list = splitter.Finish();
    REQUIRE(list.has_value());
    REQUIRE(list->kind == "PodList");
    REQUIRE(list->meta == wire::Bytes(2, "17").append(wire::Bytes(3, "next")));
  }
}

TEST_CASE("protobuf frames: the memory of a large frame is not kept", "[protobuf]") {
  constexpr std::size_t kLarge = std::size_t{1} << 20;
  constexpr std::size_t kPiece = std::size_t{16} << 10;
  const std::string bytes = std::string("\0\x10\0\0", 4) + std::string(kLarge, 'x');
  FrameSplitter splitter(2 * kLarge);
  std::vector<std::string> seen;
  for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
    REQUIRE(splitter.Feed(std::string_view(bytes).substr(at, kPiece), Into(seen)).has_value());
  }
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].size() == kLarge);
  CHECK(splitter.AtBoundary());
  CHECK(splitter.capacity() <= 4 * kPiece);
}

TEST_CASE("protobuf lists: an item is passed on before the list has ended", "[protobuf]") {
  const std::string bytes = PodList(kItems);
  ListSplitter splitter(kMax);
  std::vector<std::string> seen;
  REQUIRE(
      splitter.Feed(std::string_view(bytes).substr(0, bytes.size() / 2), Into(seen)).has_value());
  CHECK(seen.size() == 2);
}

TEST_CASE("protobuf lists: a truncated list is an error", "[protobuf]") {
  const std::string bytes = PodList(kItems);
  const std::size_t tail = 4;  // only empty fields follow the object
  for (std::size_t size = 0; size < bytes.size() - tail; ++size) {
    ListSplitter splitter(kMax);
    std::vector<std::string> seen;
    const auto fed = splitter.Feed(std::string_view(bytes).substr(0, size), Into(seen));
    INFO("the first " << size << " bytes");
    CHECK((!fed || !splitter.Finish()));
  }
}

TEST_CASE("protobuf lists: an empty list has its version, a Status its object", "[protobuf]") {
  std::vector<std::string> seen;
  ListSplitter none(kMax);
  REQUIRE(none.Feed(PodList({}), Into(seen)).has_value());
  CHECK(none.Finish().value().meta == wire::Bytes(2, "17").append(wire::Bytes(3, "next")));

  ListSplitter status(kMax);
  REQUIRE(status.Feed(wire::Enveloped("Status", "object"), Into(seen)).has_value());
  CHECK(status.Finish().value().kind == "Status");
  CHECK(status.Finish().value().object == "object");
  CHECK(seen.empty());
}

TEST_CASE("protobuf lists: another message is an error", "[protobuf]") {
  std::vector<std::string> seen;
  const auto error = [&](std::string_view bytes) {
    ListSplitter splitter(kMax);
    const auto fed = splitter.Feed(bytes, Into(seen));
    REQUIRE_FALSE(fed.has_value());
    return fed.error();
  };
  CHECK(error("{\"kind\":\"PodList\"}").Is(base::ErrorCode::kMalformed));
  CHECK(error("k9").Is(base::ErrorCode::kMalformed));
  CHECK(error(PodList({std::string(kMax + 1, 'x')})).Is(base::ErrorCode::kTooLarge));
  std::string reaching = wire::Enveloped("PodList", "\x12\x7f");
  CHECK(error(reaching).message == "malformed protobuf: a field reaches beyond its list");
  CHECK(error(std::string("k8s\0", 4).append(11, '\xff')).Is(base::ErrorCode::kMalformed));
  CHECK(error(std::string("k8s\0\x00", 5)).Is(base::ErrorCode::kMalformed));
}

TEST_CASE("protobuf lists: an error of the sink ends the list", "[protobuf]") {
  ListSplitter splitter(kMax);
  const auto fed = splitter.Feed(PodList(kItems), [](std::string_view) -> base::Result<void> {
    return base::Error{.code = base::ErrorCode::kMalformed, .message = "mine"};
  });
  REQUIRE_FALSE(fed.has_value());
  CHECK(fed.error().message == "mine");
}

TEST_CASE("protobuf frames: each frame is complete wherever the bytes are cut", "[protobuf]") {
  const std::string one = wire::Frame("ADDED", "Pod", std::string(260, 'p'));
  const std::string two = wire::Frame("DELETED", "Pod", "");
  const std::string bytes = one + two + one;
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    FrameSplitter splitter(kMax);
    std::vector<std::string> seen;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      REQUIRE(splitter.Feed(std::string_view(bytes).substr(at, piece), Into(seen)).has_value());
    }
    REQUIRE(seen == std::vector<std::string>{one.substr(4), two.substr(4), one.substr(4)});
    REQUIRE(splitter.AtBoundary());
  }
}

TEST_CASE("protobuf frames: a stream that ends inside a frame is an error", "[protobuf]") {
  FrameSplitter splitter(kMax);
  std::vector<std::string> seen;
  REQUIRE(splitter.Feed(wire::Frame("ADDED", "Pod", "x").substr(0, 6), Into(seen)).has_value());
  CHECK_FALSE(splitter.AtBoundary());
  CHECK(seen.empty());
}

TEST_CASE("protobuf frames: a frame above the bound is refused by its length", "[protobuf]") {
  FrameSplitter splitter(kMax);
  std::vector<std::string> seen;
  const auto fed = splitter.Feed(std::string_view("\0\0\x10\0", 4), Into(seen));
  REQUIRE_FALSE(fed.has_value());
  CHECK(fed.error().Is(base::ErrorCode::kTooLarge));
  CHECK(fed.error().message == "a frame of 4096 bytes, above 1000");
}

}  // namespace
}  // namespace protobuf::splitter_test
