#pragma once

// How the API server reaches the webhook: the values of --admission-service and --admission-url.
//
// Both are validated as the API server validates them in a webhook configuration. So a wrong flag
// fails at the start, not at every later write. Errors are kInvalidArgument and quote the text.
// Values; any thread.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/base/error.h"

namespace webhook {

// A Service of the cluster: "quota-system/quota-controller-manager:443".
struct ServiceReference {
  std::string ns;
  std::string name;
  std::uint16_t port = 443;

  // The name an API server verifies: "<name>.<ns>.svc".
  [[nodiscard]] std::string ServerName() const;
  // All names of the Service; the one that API servers verify is the first.
  [[nodiscard]] std::vector<std::string> Hosts() const;
  [[nodiscard]] std::string ToString() const;
};

// "ns/name:port", or "ns/name" for port 443.
base::Result<ServiceReference> ParseServiceReference(std::string_view text);

// A URL outside the cluster's Services: "https://127.0.0.1:9443/quota".
struct AdmissionUrl {
  std::string host;  // a name or an IP address, without brackets
  std::uint16_t port = 443;
  std::string path;  // "" or "/…", without a slash at its end

  // As in a webhook configuration. `below` is appended to the path: "/validate".
  [[nodiscard]] std::string ToString(std::string_view below = {}) const;
};

// Only https. A user name, query or fragment is an error: webhook configurations reject them.
base::Result<AdmissionUrl> ParseAdmissionUrl(std::string_view text);

}  // namespace webhook
