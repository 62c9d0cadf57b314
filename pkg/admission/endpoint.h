#pragma once

// How the API server reaches the webhook: what --admission-service and --admission-url hold.
//
// Both are judged as the API server would judge them in a webhook configuration, so that a wrong
// flag ends the start instead of every later write. Errors are kInvalidArgument and quote the
// text. Values; any thread.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pkg/base/error.h"

namespace admission {

// A Service of the cluster: "quota-system/quota-controller-manager:443".
struct ServiceReference {
  std::string ns;
  std::string name;
  std::uint16_t port = 443;

  // The name an API server verifies: "<name>.<ns>.svc".
  [[nodiscard]] std::string ServerName() const;
  // Every name the service is called by; the verified one first.
  [[nodiscard]] std::vector<std::string> Hosts() const;
  [[nodiscard]] std::string ToString() const;
};

// "ns/name:port" or "ns/name", which means port 443.
base::Result<ServiceReference> ParseServiceReference(std::string_view text);

// An URL of one's own: "https://127.0.0.1:9443/quota".
struct AdmissionUrl {
  std::string host;  // a name or an IP address, without brackets
  std::uint16_t port = 443;
  std::string path;  // "" or "/…", without a slash at its end

  // As a webhook configuration holds it; `below` is appended to the path: "/validate".
  [[nodiscard]] std::string ToString(std::string_view below = {}) const;
};

// https only; no user name, query or fragment, which webhook configurations refuse.
base::Result<AdmissionUrl> ParseAdmissionUrl(std::string_view text);

}  // namespace admission
