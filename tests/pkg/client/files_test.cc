#include "pkg/client/files.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "tests/pkg/client/print_result.h"
#include "tests/pkg/client/temp_folder.h"

namespace client::files_test {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("files: what is no file is refused at once", "[client]") {
  const TempFolder folder;
  const std::string fifo = folder.path() + "/fifo";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  for (const std::string& path : {fifo, std::string("/dev/zero"), std::string("/dev/tty0")}) {
    const auto content = ReadFile(path);
    REQUIRE_FALSE(content);
    CHECK_THAT(content.error().message, Contains("read " + path + ": "));
  }
  CHECK_THAT(ReadFile(fifo).error().message, Contains("it is a FIFO, a socket or a device"));
  CHECK(ReadFile(fifo).error().Is(base::ErrorCode::kInvalidArgument));
  CHECK_THAT(ReadFile(folder.path()).error().message, Contains("Is a directory"));
  CHECK(ReadFile("/dev/null").value().empty());
}

}  // namespace
}  // namespace client::files_test
