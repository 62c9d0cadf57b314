#include "cmd/kubectl-quota/check_inputs.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <system_error>

#include "pkg/api/object_meta.h"
#include "pkg/base/text.h"
#include "pkg/inspect/owners.h"

namespace kubectl_quota {
namespace {

namespace fs = std::filesystem;

using inspect::Manifest;

bool IsManifestFile(const fs::path& path) {
  const std::string extension = path.extension();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

// Renderings of whole platforms have some megabytes.
constexpr std::size_t kMostBytes = std::size_t{256} << 20;

base::Error CannotRead(const std::string& path, std::error_code why) {
  return WrongInput("cannot read " + path + ": " + why.message());
}

// Returns the file, or the files of a folder sorted by name.
base::Result<std::vector<std::string>> FilesAt(const std::string& path) {
  std::error_code error;
  if (path == "-" || !fs::is_directory(path, error)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  fs::directory_iterator entry(path, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (!IsManifestFile(entry->path())) continue;
    const fs::file_status status = entry->status(error);  // of the target of a symbolic link
    if (error) return CannotRead(entry->path(), error);
    if (fs::is_regular_file(status)) files.push_back(entry->path());
  }
  if (error) return CannotRead(path, error);
  if (files.empty()) return WrongInput("no .yaml, .yml or .json file in " + path);
  std::ranges::sort(files);
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

// With and without validation, the server refuses values of a wrong type.
base::Result<void> CheckFields(const Manifest& manifest, bool validate) {
  const std::string name = inspect::NameOf(manifest.object).ToString() + ": ";
  const inspect::FieldFindings findings = inspect::CheckFields(manifest.object);
  const std::string mistyped = base::Join(findings.mistyped, ", ");
  if (!mistyped.empty()) return WrongInput(manifest.where + ": " + name + mistyped);
  const std::string unknown = base::Join(findings.unknown, ", ");
  if (!validate || unknown.empty()) return {};
  return WrongInput("error validating " + manifest.where + ": " + name + "unknown field " +
                    unknown +
                    "; if you choose to ignore this, turn validation off with --validate=false");
}

base::Result<void> CheckNamespace(const Manifest& manifest, const Options& options) {
  const std::string own(api::Namespace(manifest.object));
  if (own.empty() || options.place.ns.empty() || own == options.place.ns) return {};
  return WrongInput(manifest.where + ": the namespace from the provided object \"" + own +
                    "\" does not match the namespace \"" + options.place.ns +
                    "\". You must pass '--namespace=" + own + "' to perform this operation.");
}

}  // namespace

base::Error WrongInput(const std::string& why) {
  return {.code = base::ErrorCode::kInvalidArgument, .message = why};
}

base::Result<std::string> ReadText(const std::string& path) {
  if (path == "-") return ReadStream(std::cin, "stdin");
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) return CannotRead(path, {errno, std::generic_category()});
  return ReadStream(file, path);
}

base::Result<std::vector<Manifest>> ReadFiles(const std::vector<std::string>& paths) {
  std::vector<Manifest> all;
  for (const std::string& path : paths) {
    const auto files = FilesAt(path);
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

bool IsNamespace(const Manifest& manifest) {
  return api::Kind(manifest.object) == "Namespace" && api::ApiVersion(manifest.object) == "v1" &&
         !api::Name(manifest.object).empty();
}

base::Result<ManifestsByNamespace> ReadGrouped(const Options& options, const std::string& ns) {
  auto manifests = ReadFiles(options.check.files);
  if (!manifests) return manifests.error();
  if (manifests->empty()) return WrongInput("no objects passed to check");
  ManifestsByNamespace groups;
  for (Manifest& manifest : *manifests) {
    if (auto fine = CheckNamespace(manifest, options); !fine) return fine.error();
    if (auto fine = CheckFields(manifest, options.check.validate); !fine) return fine.error();
    if (IsNamespace(manifest)) {
      groups[std::string(api::Name(manifest.object))].push_back(std::move(manifest));
      continue;
    }
    if (api::Namespace(manifest.object).empty()) {
      manifest.object.Make({"metadata", "namespace"}) = ns;
    }
    groups[std::string(api::Namespace(manifest.object))].push_back(std::move(manifest));
  }
  return groups;
}

}  // namespace kubectl_quota
