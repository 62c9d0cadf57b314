// Protobuf bodies as kubectl sends them to the sandbox: an object, or an error.

#include "cmd/sandbox-apiserver/protobuf.h"
#include "pkg/json/value.h"
#include "tests/fuzz/target.h"

namespace {

FUZZ_TARGET(sandbox_protobuf) {
  // The magic number need not be guessed.
  std::string body("k8s\0", 4);
  body.append(input);
  for (const std::string_view bytes : {input, std::string_view(body)}) {
    const auto object = sandbox::DecodeProtobuf(bytes);
    if (!object) {
      const bool told = object.error().Is(base::ErrorCode::kMalformed) ||
                        object.error().Is(base::ErrorCode::kInvalidArgument);
      fuzz::Require(told, "broken, or not known");
      continue;
    }
    fuzz::Require(object->IsObject() && !object->StringAt({"kind"}).empty(), "an object of a kind");
    fuzz::Require(json::Parse(json::Write(*object)).has_value(), "that can be written");
  }
}

}  // namespace
