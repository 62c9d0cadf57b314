#pragma once

// Helpers for files and the build folder.

#include <map>
#include <string>
#include <string_view>

namespace e2e {

// A temporary folder, deleted at the end unless QCM_E2E_KEEP is set (then its path is printed).
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }
  // Writes path()/name and returns its full path.
  std::string Write(std::string_view name, std::string_view content, unsigned mode = 0600) const;

 private:
  std::string path_;
};

std::string ReadFile(const std::string& path);  // "" if there is none

// A program of the running program's build folder: build/bin/<name>. The programs under test,
// quota-controller-manager and sandbox-apiserver, are taken from the folder QCM_E2E_PROGRAMS if
// that is set: they may be sanitized although the tests are not.
std::string BuiltProgram(const std::string& name);
// Of a library that is preloaded into programs under test (tests/e2e/preload): its path, and the
// environment of such a program.
std::string PreloadPath(const std::string& library);
std::map<std::string, std::string> Preloading(const std::string& library);
// True if this program was built with AddressSanitizer or ThreadSanitizer.
bool IsSanitized(const std::string& program);
// A program on PATH; "" if there is none.
std::string FindProgram(const std::string& name);

// The last lines of a log, for failure messages.
std::string Tail(const std::string& text, std::size_t lines);

}  // namespace e2e
