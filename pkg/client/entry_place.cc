#include "pkg/client/entry_place.h"

#include "pkg/base/base64.h"
#include "pkg/client/files.h"

namespace client {
namespace {

using base::Error;
using base::Result;

Result<std::string> CheckPem(Result<std::string> content, const Place& place,
                             std::string_view field) {
  if (!content) return place.Bad(std::string(field) + ": " + content.error().message);
  if (content->find("-----BEGIN ") == std::string::npos) {
    return place.Bad(std::string(field) + " holds no PEM block");
  }
  return content;
}

}  // namespace

Error Place::Bad(std::string_view what) const {
  return {.code = base::ErrorCode::kInvalidArgument, .message = text + ": " + std::string(what)};
}

Place PlaceOf(const std::string& file, std::string_view kind, const std::string& name) {
  return {file + ": " + std::string(kind) + " \"" + name + "\""};
}

Result<std::string> ReadPem(const Place& place, const std::string& data, const std::string& path,
                            const std::string& field) {
  if (!data.empty() && !path.empty()) {
    return place.Bad(field + " and " + field + "-data are both set; only one is allowed");
  }
  if (!data.empty()) return CheckPem(base::DecodeBase64(data), place, field + "-data");
  if (!path.empty()) return CheckPem(ReadFile(path), place, field);
  return std::string();
}

}  // namespace client
