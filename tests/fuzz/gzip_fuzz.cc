// Gzip bodies: what was compressed is decompressed, cut anywhere, and other input is refused.

#include "pkg/http/gzip.h"

#include <zlib.h>

#include "tests/fuzz/target.h"

namespace {

constexpr std::size_t kEnough = std::size_t{1} << 20;

// One for all inputs: creating it costs more than using it.
z_stream NewDeflate() {
  constexpr int kSmallWindow = 16 + 9;
  z_stream zlib{};
  fuzz::Require(deflateInit2(&zlib, 1, Z_DEFLATED, kSmallWindow, 1, Z_DEFAULT_STRATEGY) == Z_OK,
                "zlib starts");
  return zlib;
}

std::string Packed(std::string_view bytes) {
  // Must not move: zlib's state points back to it.
  static z_stream& zlib = *new z_stream(NewDeflate());
  fuzz::Require(deflateReset(&zlib) == Z_OK, "zlib starts again");
  std::string packed(deflateBound(&zlib, bytes.size()) + 64, '\0');
  zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  zlib.avail_in = static_cast<uInt>(bytes.size());
  zlib.next_out = reinterpret_cast<Bytef*>(packed.data());
  zlib.avail_out = static_cast<uInt>(packed.size());
  const bool done = deflate(&zlib, Z_FINISH) == Z_STREAM_END;
  packed.resize(zlib.total_out);
  fuzz::Require(done, "zlib packs");
  return packed;
}

struct Unpacked {
  std::string bytes;
  bool failed = false;
  bool at_end = false;
};

Unpacked Unpack(const std::vector<std::string>& pieces) {
  const auto gunzip = http::NewGunzip();
  Unpacked unpacked;
  for (const std::string& piece : pieces) {
    gunzip->Add(piece);
    while (true) {
      const auto taken = gunzip->Take();
      if (!taken) return unpacked.failed = true, unpacked;
      if (taken->empty()) break;
      unpacked.bytes += *taken;
      // A reader with a limit does this.
      if (unpacked.bytes.size() > kEnough) return unpacked.failed = true, unpacked;
    }
  }
  unpacked.at_end = gunzip->AtEnd();
  return unpacked;
}

FUZZ_TARGET(gzip) {
  fuzz::Chance chance(input);
  const Unpacked whole = Unpack({std::string(input)});
  const Unpacked cut = Unpack(fuzz::Pieces(input, chance));
  fuzz::Require(whole.failed == cut.failed, "refused wherever it is cut");
  if (!whole.failed) {
    fuzz::Require(whole.bytes == cut.bytes && whole.at_end == cut.at_end, "the same wherever cut");
  }

  std::string packed = Packed(input.substr(0, input.size() / 2));
  packed += Packed(input.substr(input.size() / 2));
  const Unpacked own = Unpack(fuzz::Pieces(packed, chance));
  fuzz::Require(!own.failed && own.at_end, "what was packed is whole");
  fuzz::RequireSame(own.bytes, input, "what was packed is unpacked");
}

}  // namespace
