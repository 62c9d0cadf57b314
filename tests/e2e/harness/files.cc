#include "tests/e2e/harness/files.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>

namespace e2e {

TempDir::TempDir() {
  std::string name = (std::filesystem::temp_directory_path() / "qcm-e2e-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
  path_ = name;
}

TempDir::~TempDir() {
  if (getenv("QCM_E2E_KEEP") != nullptr) {
    std::cerr << "kept " << path_ << "\n";
    return;
  }
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TempDir::Write(std::string_view name, std::string_view content, unsigned mode) const {
  std::string path = path_ + "/" + std::string(name);
  // Written to a new file and renamed: a reader (a daemon that rereads its token) never sees half
  // of it.
  const std::string fresh = path + ".new";
  std::ofstream(fresh, std::ios::binary | std::ios::trunc) << content;
  chmod(fresh.c_str(), mode);
  std::filesystem::rename(fresh, path);
  return path;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

std::string BuiltProgram(const std::string& name) {
  const char* chosen = getenv("QCM_E2E_PROGRAMS");
  const bool under_test = name == "quota-controller-manager" || name == "sandbox-apiserver";
  const std::filesystem::path folder =
      under_test && chosen != nullptr
          ? std::filesystem::absolute(chosen)
          : std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const auto path = folder / name;
  if (!std::filesystem::exists(path)) throw std::runtime_error(path.string() + " is not built");
  return path.string();
}

std::string PreloadPath(const std::string& library) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / library).string();
}

std::map<std::string, std::string> Preloading(const std::string& library) {
  // AddressSanitizer must be the first library; these do not need it.
  const char* asan = getenv("ASAN_OPTIONS");
  const std::string options = asan == nullptr ? "" : std::string(asan) + ":";
  return {{"LD_PRELOAD", PreloadPath(library)},
          {"ASAN_OPTIONS", options + "verify_asan_link_order=0"}};
}

bool IsSanitized(const std::string& program) {
  const auto content = ReadFile(program);
  return content.find("__asan_init") != std::string::npos ||
         content.find("__tsan_init") != std::string::npos;
}

std::string FindProgram(const std::string& name) {
  std::istringstream folders(getenv("PATH") == nullptr ? "" : getenv("PATH"));
  std::string folder;
  while (std::getline(folders, folder, ':')) {
    std::string path = std::string(folder).append("/").append(name);
    if (!folder.empty() && access(path.c_str(), X_OK) == 0) return path;
  }
  return "";
}

std::string Tail(const std::string& text, std::size_t lines) {
  std::size_t begin = text.size();
  for (std::size_t seen = 0; begin > 0; --begin) {
    if (text[begin - 1] == '\n' && seen++ == lines) break;
  }
  return text.substr(begin);
}

}  // namespace e2e
