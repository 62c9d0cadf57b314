#include "pkg/logging/line_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <csignal>

namespace logging::line_writer_test {
namespace {

class Pipe {
 public:
  Pipe() {
    ::signal(SIGPIPE, SIG_IGN);
    REQUIRE(::pipe(ends_.data()) == 0);
    ::fcntl(ends_[0], F_SETFL, O_NONBLOCK);
  }
  ~Pipe() {
    CloseReader();
    ::close(ends_[1]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  [[nodiscard]] int writer() const { return ends_[1]; }
  void CloseReader() {
    if (ends_[0] >= 0) ::close(std::exchange(ends_[0], -1));
  }
  std::string ReadAll() {
    std::string all;
    std::array<char, 65536> buffer{};
    for (ssize_t bytes = 0; (bytes = ::read(ends_[0], buffer.data(), buffer.size())) > 0;) {
      all.append(buffer.data(), static_cast<std::size_t>(bytes));
    }
    return all;
  }

 private:
  std::array<int, 2> ends_{};
};

std::string Tell(std::uint64_t lost) { return std::to_string(lost) + " lost\n"; }

// Lines of this length until one is lost.
int Fill(LineWriter& writer, std::size_t length) {
  const std::string line = std::string(length - 1, 'x') + "\n";
  int written = 0;
  while (writer.lost() == 0) {
    writer.Write(line);
    ++written;
  }
  return written - 1;
}

}  // namespace

TEST_CASE("log: a pipe that nobody reads loses lines and delays nobody", "[logging]") {
  const std::size_t length = GENERATE(std::size_t{100}, std::size_t{4096}, std::size_t{10'000});
  Pipe pipe;
  LineWriter writer(pipe.writer(), Tell);
  const int before = Fill(writer, length);
  CHECK(before > 0);
  writer.Write("lost, too\n");
  CHECK(writer.lost() == 2);
  const std::string written = pipe.ReadAll();
  CHECK(std::count(written.begin(), written.end(), '\n') == before);
  writer.Write("again\n");
  // The rest of a line that was cut is its own line.
  const bool cut = !written.ends_with('\n');
  CHECK(pipe.ReadAll() == (cut ? "\n2 lost\nagain\n" : "2 lost\nagain\n"));
  writer.Write("and again\n");
  CHECK(pipe.ReadAll() == "and again\n");
  CHECK(writer.lost() == 2);
}

TEST_CASE("log: a closed pipe and a full disk lose lines", "[logging]") {
  Pipe pipe;
  pipe.CloseReader();
  LineWriter closed(pipe.writer(), Tell);
  closed.Write("one\n");
  closed.Write("two\n");
  CHECK(closed.lost() == 2);
  const int full = ::open("/dev/full", O_WRONLY);
  LineWriter disk(full, Tell);
  disk.Write("one\n");
  CHECK(disk.lost() == 1);
  ::close(full);
}

TEST_CASE("log: a writer that may wait is not delayed by a reader that reads", "[logging]") {
  Pipe pipe;
  LineWriter writer(pipe.writer(), Tell);
  writer.Write("last words\n", std::chrono::hours(1));
  CHECK(pipe.ReadAll() == "last words\n");
}

}  // namespace logging::line_writer_test
