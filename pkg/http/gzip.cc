#include "pkg/http/gzip.h"

#include <glog/logging.h>
#include <zlib.h>

#include <array>

namespace http {
namespace {

constexpr std::size_t kPiece = std::size_t{256} << 10;
constexpr std::size_t kStep = std::size_t{32} << 10;
constexpr int kGzipWrapper = 16 + MAX_WBITS;

class ZlibGunzip final : public Gunzip {
 public:
  ZlibGunzip() { CHECK_EQ(inflateInit2(&zlib_, kGzipWrapper), Z_OK); }
  ~ZlibGunzip() override { inflateEnd(&zlib_); }
  ZlibGunzip(const ZlibGunzip&) = delete;
  ZlibGunzip& operator=(const ZlibGunzip&) = delete;

  void Add(std::string bytes) override {
    input_.erase(0, input_.size() - zlib_.avail_in);
    input_.append(bytes);
    Point();
  }

  base::Result<std::string> Take() override {
    std::string output;
    while (output.size() < kPiece) {
      const std::size_t before = output.size();
      const uInt input_before = zlib_.avail_in;
      zlib_.next_out = reinterpret_cast<Bytef*>(step_.data());
      zlib_.avail_out = static_cast<uInt>(kStep);
      const int result = Step();
      output.append(step_.data(), kStep - zlib_.avail_out);
      if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
        return base::Error{.code = base::ErrorCode::kMalformed,
                           .message = std::string("bad gzip: ") +
                                      (zlib_.msg != nullptr ? zlib_.msg : "data error")};
      }
      if (output.size() == before && zlib_.avail_in == input_before) break;
    }
    return output;
  }

  [[nodiscard]] bool AtEnd() const override { return !in_member_ && zlib_.avail_in == 0; }

 private:
  // Calls inflate() once. After the end of a member the next one begins, if there is more input.
  int Step() {
    if (!in_member_ && zlib_.avail_in == 0) return Z_BUF_ERROR;
    in_member_ = true;
    const int result = inflate(&zlib_, Z_NO_FLUSH);
    if (result == Z_STREAM_END) {
      in_member_ = false;
      inflateReset(&zlib_);
    }
    return result;
  }

  void Point() {
    zlib_.next_in = reinterpret_cast<Bytef*>(input_.data());
    zlib_.avail_in = static_cast<uInt>(input_.size());
  }

  z_stream zlib_{};
  std::string input_;  // its last avail_in bytes are not decoded yet
  bool in_member_ = false;
  // Not the output itself: growing a string writes zeros first, which costs more than inflating
  // small pieces.
  std::array<char, kStep> step_;
};

}  // namespace

std::unique_ptr<Gunzip> NewGunzip() { return std::make_unique<ZlibGunzip>(); }

}  // namespace http
