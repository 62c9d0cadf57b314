#pragma once

// Names that an API server accepts for objects (apimachinery v0.36.3,
// pkg/util/validation/validation.go). Pure; any thread.

#include <string_view>

namespace api {

// The API server sets this label on each namespace to the namespace's name.
inline constexpr std::string_view kNamespaceLabel = "kubernetes.io/metadata.name";

// A name of a namespace or a Service, and of few other kinds: at most 63 characters a-z, 0-9 and
// "-", which is neither first nor last.
bool IsDns1123Label(std::string_view text);

// A name of most other kinds: at most 253 characters, labels of any length with dots between them.
bool IsDns1123Subdomain(std::string_view text);

}  // namespace api
