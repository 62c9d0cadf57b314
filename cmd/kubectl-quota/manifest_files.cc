#include "cmd/kubectl-quota/manifest_files.h"

#include <glob.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <system_error>
#include <utility>

#include "cmd/kubectl-quota/check_inputs.h"
#include "cmd/kubectl-quota/fetched_text.h"
#include "cmd/kubectl-quota/text_encoding.h"

namespace kubectl_quota {
namespace {

namespace fs = std::filesystem;

using inspect::Manifest;
using Paths = std::vector<std::string>;

// Renderings of whole platforms have some megabytes.
constexpr std::size_t kMostBytes = std::size_t{256} << 20;

bool IsManifestFile(const fs::path& path) {
  const std::string extension = path.extension();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

base::Error CannotRead(const std::string& path, std::error_code why) {
  return WrongInput("cannot read " + path + ": " + why.message());
}

// Adds the files of a folder, sorted by name. Sets `has_folders` if there are folders in it.
base::Result<void> AddFolder(const fs::path& folder, bool recursive, Paths& files,
                             bool& has_folders) {
  std::error_code error;
  std::vector<fs::path> entries;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    entries.push_back(entry->path());
  }
  if (error) return CannotRead(folder, error);
  std::ranges::sort(entries);
  for (const fs::path& path : entries) {
    const bool is_folder = fs::symlink_status(path, error).type() == fs::file_type::directory;
    if (error) return CannotRead(path, error);
    has_folders = has_folders || is_folder;
    if (is_folder && recursive) {
      auto added = AddFolder(path, recursive, files, has_folders);
      if (!added) return added;
    }
    if (!IsManifestFile(path)) continue;
    const fs::file_status status = fs::status(path, error);  // of the target of a symbolic link
    if (error) return CannotRead(path, error);
    if (fs::is_regular_file(status)) files.push_back(path);
  }
  return {};
}

// Returns the paths that a pattern such as "*.yaml" matches; the path itself if it exists, or if
// nothing matches.
Paths Matches(const std::string& path) {
  std::error_code error;
  if (fs::exists(path, error)) return {path};
  glob_t found{};
  Paths paths;
  if (::glob(path.c_str(), 0, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  ::globfree(&found);
  return paths.empty() ? Paths{path} : paths;
}

base::Result<Paths> FilesAt(const std::string& path, bool recursive) {
  if (path == "-" || IsUrl(path)) return Paths{path};
  Paths files;
  for (const std::string& match : Matches(path)) {
    std::error_code error;
    if (!fs::is_directory(match, error)) {
      files.push_back(match);
      continue;
    }
    const std::size_t before = files.size();
    bool has_folders = false;
    auto added = AddFolder(match, recursive, files, has_folders);
    if (!added) return added.error();
    if (files.size() == before) {
      return WrongInput("no .yaml, .yml or .json file in " + match +
                        (has_folders && !recursive ? "; -R also reads the folders in it" : ""));
    }
  }
  return files;
}

base::Result<std::string> ReadStream(std::istream& in, const std::string& path) {
  std::string text;
  std::vector<char> piece(std::size_t{64} << 10);
  while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())), in.gcount() > 0) {
    text.append(piece.data(), static_cast<std::size_t>(in.gcount()));
    if (text.size() > kMostBytes) return WrongInput(path + " is larger than 256 MiB");
  }
  // A folder can be opened, but not read.
  if (in.bad()) return WrongInput("cannot read " + path);
  return text;
}

base::Result<std::string> ReadBytes(const std::string& path) {
  if (path == "-") return ReadStream(std::cin, "stdin");
  if (IsUrl(path)) return Download(path);
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) return CannotRead(path, {errno, std::generic_category()});
  return ReadStream(file, path);
}

}  // namespace

base::Result<std::string> ReadText(const std::string& path) {
  auto bytes = ReadBytes(path);
  if (!bytes) return bytes.error();
  return InUtf8(std::move(*bytes), path == "-" ? "stdin" : path);
}

base::Result<std::vector<Manifest>> ReadFiles(const Paths& paths, bool recursive) {
  std::vector<Manifest> all;
  for (const std::string& path : paths) {
    const auto files = FilesAt(path, recursive);
    if (!files) return files.error();
    for (const std::string& file : *files) {
      const auto text = ReadText(file);
      if (!text) return text.error();
      auto manifests = inspect::ReadManifests(*text, file == "-" ? "stdin" : file);
      if (!manifests) return manifests.error();
      std::ranges::move(*manifests, std::back_inserter(all));
    }
  }
  return all;
}

base::Result<std::vector<Manifest>> ReadChecked(const CheckOptions& check) {
  if (check.kustomize.empty()) return ReadFiles(check.files, check.recursive);
  const auto text = Kustomize(check.kustomize);
  if (!text) return text.error();
  return inspect::ReadManifests(*text, "kustomization " + check.kustomize);
}

}  // namespace kubectl_quota
