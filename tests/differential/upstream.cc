#include "tests/differential/upstream.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <thread>

namespace differential {
namespace {

[[noreturn]] void Fail(const std::string& what) {
  throw std::runtime_error(what + ": " + std::strerror(errno));
}

void WriteAll(int to, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(to, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // the reader notices that the program has ended
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

Upstream::Upstream(const std::string& program) {
  std::signal(SIGPIPE, SIG_IGN);
  int question[2];
  int answer[2];
  if (pipe2(question, O_CLOEXEC) != 0 || pipe2(answer, O_CLOEXEC) != 0) Fail("pipe");
  process_ = fork();
  if (process_ < 0) Fail("fork");
  if (process_ == 0) {
    dup2(question[0], STDIN_FILENO);
    dup2(answer[1], STDOUT_FILENO);
    execl(program.c_str(), program.c_str(), nullptr);
    _exit(127);
  }
  close(question[0]);
  close(answer[1]);
  to_ = question[1];
  from_ = answer[0];
}

Upstream::~Upstream() {
  close(to_);
  close(from_);
  waitpid(process_, nullptr, 0);
}

std::string Upstream::ReadLine() {
  std::size_t end = 0;
  while ((end = unread_.find('\n', read_)) == std::string::npos) {
    unread_.erase(0, read_);
    read_ = 0;
    char buffer[65536];
    const ssize_t got = read(from_, buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw std::runtime_error("the upstream program ended");
    unread_.append(buffer, static_cast<std::size_t>(got));
  }
  std::string line = unread_.substr(read_, end - read_);
  read_ = end + 1;
  return line;
}

std::vector<json::Value> Upstream::Ask(const std::vector<std::string>& questions) {
  std::string lines;
  for (const std::string& question : questions) lines.append(question).append("\n");
  // On its own thread: with both pipes full, each side would wait for the other.
  const std::jthread writer([&] { WriteAll(to_, lines); });
  std::vector<json::Value> answers;
  answers.reserve(questions.size());
  while (answers.size() < questions.size()) {
    const auto answer = json::Parse(ReadLine());
    if (!answer) throw std::runtime_error("upstream's answer: " + answer.error().message);
    answers.push_back(*answer);
  }
  return answers;
}

}  // namespace differential
