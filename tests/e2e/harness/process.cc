#include "tests/e2e/harness/process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "tests/e2e/harness/files.h"
#include "tests/e2e/harness/wait.h"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace e2e {
namespace {

std::function<void(const std::string&)> fail_test;

std::vector<std::string> MergedEnvironment(const std::map<std::string, std::string>& changes) {
  std::map<std::string, std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    std::string text(*entry);
    const auto equals = text.find('=');
    if (equals != std::string::npos) merged[text.substr(0, equals)] = text.substr(equals + 1);
  }
  for (const auto& [name, value] : changes) merged[name] = value;
  std::vector<std::string> lines;
  lines.reserve(merged.size());
  for (const auto& [name, value] : merged) {
    lines.push_back(std::string(name).append("=").append(value));
  }
  return lines;
}

std::vector<char*> Pointers(std::vector<std::string>& lines) {
  std::vector<char*> pointers;
  pointers.reserve(lines.size() + 1);
  for (auto& line : lines) pointers.push_back(line.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Runs between fork and exec: only calls that are safe there.
[[noreturn]] void BecomeChild(char** argv, char** env, const char* log_path,
                              const ProcessOptions& options) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int in = open("/dev/null", O_RDONLY);
  const int out = open(log_path, O_WRONLY | O_CREAT | O_APPEND, 0644);
  if (in >= 0) dup2(in, 0);
  if (out >= 0) {
    dup2(out, 1);
    dup2(out, 2);
  }
  int first_unwanted = 3;
  if (options.channel >= 0) {
    dup2(options.channel, first_unwanted);
    fcntl(first_unwanted++, F_SETFD, 0);  // dup2() of 3 onto itself does not change the flag
  }
  close_range(first_unwanted, ~0U, 0);
  if (options.most_descriptors > 0) {
    const auto most = static_cast<rlim_t>(options.most_descriptors);
    const rlimit limit{most, most};
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  execve(argv[0], argv, env);
  dprintf(2, "cannot execute %s: %s\n", argv[0], strerror(errno));
  _exit(127);
}

}  // namespace

Process::Process(const ProcessOptions& options) {
  auto arguments = options.argv;
  auto environment = MergedEnvironment(options.env);
  auto argv = Pointers(arguments);
  auto env = Pointers(environment);
  const std::string log = options.log_path.empty() ? "/dev/null" : options.log_path;
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error(std::string("fork: ") + strerror(errno));
  if (pid_ == 0) BecomeChild(argv.data(), env.data(), log.c_str(), options);
  setpgid(pid_, pid_);  // also in the parent: the group exists when we return, whichever runs first
}

Process::~Process() { Kill(); }

void Process::Signal(int signal) {
  if (Running()) kill(pid_, signal);
}

void Process::Kill() {
  if (!exit_code_) kill(-pid_, SIGKILL);
  Wait(std::chrono::seconds(20));
}

std::optional<int> Process::Wait(std::chrono::milliseconds timeout) {
  const auto reap = [this] {
    if (exit_code_) return true;
    int status = 0;
    const int pid = waitpid(pid_, &status, WNOHANG);
    if (pid == 0) return false;
    exit_code_ = pid < 0 ? 127 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return true;
  };
  PollUntil(reap, timeout);
  return exit_code_;
}

void ReportEnd(const std::string& name, int exit_code, const std::string& log) {
  const std::string text = name + " ended with exit code " + std::to_string(exit_code) +
                           " while it should run; its last lines:\n" + Tail(log, 40);
  if (fail_test) {
    fail_test(text);
  } else {
    std::cerr << text << "\n";
  }
}

void OnReportedEnd(std::function<void(const std::string& text)> fail) {
  fail_test = std::move(fail);
}

ProgramResult RunProgram(const ProcessOptions& options, std::chrono::milliseconds timeout) {
  TempDir dir;
  auto with_log = options;
  with_log.log_path = dir.path() + "/output";
  Process process(with_log);
  const auto exit_code = process.Wait(timeout);
  if (!exit_code) {
    throw std::runtime_error(options.argv[0] + " did not end in time; it said:\n" +
                             ReadFile(with_log.log_path));
  }
  return {*exit_code, ReadFile(with_log.log_path)};
}

ProcessUsage UsageOf(int pid) {
  ProcessUsage usage;
  const std::string proc = "/proc/" + std::to_string(pid);
  std::ifstream statm(proc + "/statm");
  long total = 0;
  long resident = 0;
  if (statm >> total >> resident) usage.resident_bytes = resident * sysconf(_SC_PAGESIZE);
  std::ifstream status(proc + "/status");
  for (std::string word; status >> word;) {
    long kilobytes = 0;
    if (word == "VmHWM:" && status >> kilobytes) usage.peak_resident_bytes = kilobytes * 1024;
  }
  // The second field is the program's name in brackets, which may contain blanks: count fields from
  // ')'.
  std::ifstream stat(proc + "/stat");
  std::string line;
  std::getline(stat, line);
  const auto bracket = line.rfind(')');
  if (bracket == std::string::npos) return usage;
  std::istringstream fields(line.substr(bracket + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  long user = 0;
  long system = 0;
  fields >> user >> system;
  usage.cpu_seconds =
      static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
  return usage;
}

}  // namespace e2e
