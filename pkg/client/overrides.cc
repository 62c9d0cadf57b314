#include "pkg/client/overrides.h"

namespace client {
namespace {

template <typename Value>
void Set(const Value& flag, Value& entry) {
  if (flag != Value()) entry = flag;
}

// The file and the data of a certificate or key exclude each other, so they are set together.
void SetFile(const std::string& flag, std::string& file, std::string& data) {
  if (flag.empty()) return;
  file = flag;
  data.clear();
}

}  // namespace

void Override(const ClusterEntry& flags, ClusterEntry& entry) {
  Set(flags.server, entry.server);
  Set(flags.disable_compression, entry.disable_compression);
  if (flags.insecure || !flags.ca_file.empty()) {
    entry.insecure = flags.insecure;
    entry.ca_file = flags.ca_file;
    entry.ca_data.clear();
  }
  if (!flags.server.empty() || !flags.tls_server_name.empty()) {
    entry.tls_server_name = flags.tls_server_name;
  }
}

void Override(const UserEntry& flags, UserEntry& entry) {
  SetFile(flags.token, entry.token, entry.token_file);
  SetFile(flags.cert_file, entry.cert_file, entry.cert_data);
  SetFile(flags.key_file, entry.key_file, entry.key_data);
  Set(flags.username, entry.username);
  Set(flags.password, entry.password);
  Set(flags.as, entry.as);
  Set(flags.as_uid, entry.as_uid);
  Set(flags.as_groups, entry.as_groups);
  Set(flags.as_extra, entry.as_extra);
}

}  // namespace client
