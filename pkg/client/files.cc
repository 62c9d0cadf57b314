#include "pkg/client/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace client {
namespace {

using base::Error;
using base::ErrorCode;

constexpr std::size_t kMaxFileBytes = std::size_t{16} << 20;

Error ReadError(const std::string& path, int code) {
  return {.code = code == ENOENT ? ErrorCode::kNotFound : ErrorCode::kInvalidArgument,
          .message = "read " + path + ": " + std::strerror(code)};
}

// Others may have nothing to read now, or never end. Reading a folder fails by itself. /dev/null is
// a usual name for an empty file.
bool MayBeRead(int descriptor) {
  const dev_t kNull = makedev(1, 3);
  struct stat found {};
  if (::fstat(descriptor, &found) != 0) return false;
  return S_ISREG(found.st_mode) || S_ISDIR(found.st_mode) ||
         (S_ISCHR(found.st_mode) && found.st_rdev == kNull);
}

base::Result<std::string> ReadAll(int descriptor, const std::string& path) {
  std::string content;
  std::array<char, 16384> buffer;
  for (;;) {
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ReadError(path, errno);
    if (count == 0) return content;
    content.append(buffer.data(), static_cast<std::size_t>(count));
    if (content.size() > kMaxFileBytes) {
      return Error{.code = ErrorCode::kInvalidArgument,
                   .message = "read " + path + ": larger than 16 MiB"};
    }
  }
}

}  // namespace

base::Result<std::string> ReadFile(const std::string& path) {
  // Without O_NONBLOCK, open() waits for a FIFO's writer.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return ReadError(path, errno);
  base::Result<std::string> content =
      MayBeRead(descriptor)
          ? ReadAll(descriptor, path)
          : Error{.code = ErrorCode::kInvalidArgument,
                  .message = "read " + path + ": it is a FIFO, a socket or a device, not a file"};
  ::close(descriptor);
  return content;
}

std::string ResolveBeside(std::string_view file, std::string_view path) {
  if (path.empty() || path.front() == '/') return std::string(path);
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  return (folder / std::filesystem::path(path)).lexically_normal().string();
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

}  // namespace client
