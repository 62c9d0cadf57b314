#include "pkg/client/kubeconfig.h"

#include <algorithm>
#include <optional>

#include "pkg/client/files.h"
#include "pkg/config/yaml.h"

namespace client {
namespace {

using base::Error;
using base::ErrorCode;
using base::Result;

constexpr std::string_view kExecExtension = "client.authentication.k8s.io/exec";

// Reads members of one object and remembers the first one of a wrong type, so that reading many
// fields needs no checks in between. Null counts as absent, as in Go.
class Fields {
 public:
  Fields(const json::Value* object, std::string where) : where_(std::move(where)) {
    if (object == nullptr || object->IsNull()) return;
    object_ = object->AsObject();
    if (object_ == nullptr) Mismatch("", "an object", *object);
  }

  void Read(std::string_view name, std::string& into) {
    if (const json::Value* value = Find(name)) {
      if (const std::string* text = value->AsString()) {
        into = *text;
      } else {
        Mismatch(name, "a string", *value);
      }
    }
  }

  void Read(std::string_view name, bool& into) {
    if (const json::Value* value = Find(name)) {
      const std::optional<bool> flag = value->AsBool();
      if (!flag) Mismatch(name, "true or false", *value);
      into = flag.value_or(false);
    }
  }

  void Read(std::string_view name, std::vector<std::string>& into) {
    for (const json::Value& element : List(name)) {
      if (const std::string* text = element.AsString()) {
        into.push_back(*text);
      } else {
        Mismatch(name, "a list of strings", element);
      }
    }
  }

  const json::Array& List(std::string_view name) {
    static const json::Array none;
    const json::Value* value = Find(name);
    if (value == nullptr) return none;
    if (value->IsArray()) return *value->AsArray();
    Mismatch(name, "a list", *value);
    return none;
  }

  // Returns the member; nullptr if it is absent or null.
  [[nodiscard]] const json::Value* Find(std::string_view name) const {
    const json::Value* value = object_ == nullptr ? nullptr : object_->Find(name);
    return value == nullptr || value->IsNull() ? nullptr : value;
  }

  [[nodiscard]] std::string Where(std::string_view name) const {
    if (name.empty()) return where_;
    return where_ + (where_.ends_with(' ') ? "" : ".") + std::string(name);
  }
  void Fail(Error error) {
    if (!error_) error_ = std::move(error);
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  // The value is not quoted, because it may be a secret.
  void Mismatch(std::string_view name, std::string_view wanted, const json::Value& found) {
    Fail({.code = ErrorCode::kInvalidArgument,
          .message = Where(name) + " must be " + std::string(wanted) + ", not a value of type " +
                     std::string(found.TypeName())});
  }

  const json::Object* object_ = nullptr;
  std::string where_;
  std::optional<Error> error_;
};

void ReadClusterConfig(Fields& fields, json::Value& into) {
  for (const json::Value& extension : fields.List("extensions")) {
    const json::Value* content = extension.At({"extension"});
    if (extension.StringAt({"name"}) == kExecExtension && content != nullptr) into = *content;
  }
}

void ReadEntry(Fields& fields, ClusterEntry& cluster) {
  fields.Read("server", cluster.server);
  fields.Read("tls-server-name", cluster.tls_server_name);
  fields.Read("insecure-skip-tls-verify", cluster.insecure);
  fields.Read("certificate-authority", cluster.ca_file);
  fields.Read("certificate-authority-data", cluster.ca_data);
  fields.Read("proxy-url", cluster.proxy_url);
  fields.Read("disable-compression", cluster.disable_compression);
  ReadClusterConfig(fields, cluster.exec_config);
  cluster.ca_file = ResolveBeside(cluster.file, cluster.ca_file);
}

void ReadEnv(Fields& exec, ExecEntry& into) {
  for (const json::Value& element : exec.List("env")) {
    Fields variable(&element, exec.Where("env[" + std::to_string(into.env.size()) + "]"));
    std::string name;
    std::string value;
    variable.Read("name", name);
    variable.Read("value", value);
    if (variable.error()) exec.Fail(*variable.error());
    into.env.emplace_back(std::move(name), std::move(value));
  }
}

void ReadExec(Fields& fields, UserEntry& user) {
  const json::Value* value = fields.Find("exec");
  if (value == nullptr) return;
  user.has_exec = true;
  Fields exec(value, fields.Where("exec"));
  exec.Read("apiVersion", user.exec.api_version);
  exec.Read("command", user.exec.command);
  exec.Read("args", user.exec.args);
  exec.Read("installHint", user.exec.install_hint);
  exec.Read("provideClusterInfo", user.exec.provide_cluster_info);
  exec.Read("interactiveMode", user.exec.interactive_mode);
  ReadEnv(exec, user.exec);
  if (exec.error()) fields.Fail(*exec.error());
  // A bare name is searched in PATH; everything else is a path relative to the file.
  if (user.exec.command.find('/') != std::string::npos) {
    user.exec.command = ResolveBeside(user.file, user.exec.command);
    if (user.exec.command.find('/') == std::string::npos) user.exec.command.insert(0, "./");
  }
}

void ReadExtra(Fields& fields, UserEntry& user) {
  const json::Value* value = fields.Find("as-user-extra");
  if (value == nullptr) return;
  Fields extra(value, fields.Where("as-user-extra"));
  if (const json::Object* members = value->AsObject()) {
    for (const auto& [key, ignored] : *members) {
      std::vector<std::string> values;
      extra.Read(key, values);
      for (std::string& text : values) user.as_extra.emplace_back(key, std::move(text));
    }
  }
  if (extra.error()) fields.Fail(*extra.error());
}

void ReadEntry(Fields& fields, UserEntry& user) {
  fields.Read("client-certificate", user.cert_file);
  fields.Read("client-certificate-data", user.cert_data);
  fields.Read("client-key", user.key_file);
  fields.Read("client-key-data", user.key_data);
  fields.Read("token", user.token);
  fields.Read("tokenFile", user.token_file);
  fields.Read("username", user.username);
  fields.Read("password", user.password);
  fields.Read("as", user.as);
  fields.Read("as-uid", user.as_uid);
  fields.Read("as-groups", user.as_groups);
  ReadExtra(fields, user);
  ReadExec(fields, user);
  if (const json::Value* provider = fields.Find("auth-provider")) {
    user.auth_provider = provider->StringAt({"name"});
    if (user.auth_provider.empty()) user.auth_provider = "(unnamed)";
    user.id_token = provider->StringAt({"config", "id-token"});
  }
  for (std::string* path : {&user.cert_file, &user.key_file, &user.token_file}) {
    *path = ResolveBeside(user.file, *path);
  }
}

void ReadEntry(Fields& fields, ContextEntry& context) {
  fields.Read("cluster", context.cluster);
  fields.Read("user", context.user);
  fields.Read("namespace", context.ns);
}

// Reads the named entries of `list`, each {"name": …, member: {…}}.
template <typename Entry>
void ReadList(Fields& top, std::string_view list, std::string_view member, const std::string& file,
              std::map<std::string, Entry>& into) {
  std::size_t index = 0;
  for (const json::Value& element : top.List(list)) {
    const std::string place =
        std::string(list).append("[").append(std::to_string(index++)).append("]");
    Fields named(&element, std::string(file).append(": ").append(place));
    std::string name;
    named.Read("name", name);
    Entry entry;
    entry.file = file;
    const std::string where =
        std::string(file).append(": ").append(member).append(" \"").append(name).append("\"");
    Fields fields(named.Find(member), where);
    ReadEntry(fields, entry);
    if (named.error()) top.Fail(*named.error());
    if (fields.error()) top.Fail(*fields.error());
    if (name.empty()) {
      top.Fail(
          {.code = ErrorCode::kInvalidArgument,
           .message = std::string(file).append(": ").append(place).append(".name is missing")});
    } else if (!into.emplace(name, std::move(entry)).second) {
      top.Fail({.code = ErrorCode::kInvalidArgument, .message = where + " is defined twice"});
    }
  }
}

base::Result<json::Value> ReadDocument(const std::string& path) {
  Result<std::string> text = ReadFile(path);
  if (!text) return text.error();
  Result<json::Value> document = config::ParseYaml(*text);
  if (document) return document;
  Error error = document.error().Wrap(path);
  error.code = ErrorCode::kInvalidArgument;
  return error;
}

}  // namespace

Result<Kubeconfig> ParseKubeconfig(const json::Value& document, const std::string& file) {
  Kubeconfig config;
  Fields top(&document, file + ": ");
  if (top.error()) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .message = file +
                            " is not a kubeconfig: expected an object, not a value of type " +
                            std::string(document.TypeName())};
  }
  std::string kind = "Config";
  std::string version = "v1";
  top.Read("kind", kind);
  top.Read("apiVersion", version);
  top.Read("current-context", config.current_context);
  ReadList(top, "clusters", "cluster", file, config.clusters);
  ReadList(top, "users", "user", file, config.users);
  ReadList(top, "contexts", "context", file, config.contexts);
  if (!top.error() && (kind != "Config" || version != "v1")) {
    top.Fail({.code = ErrorCode::kInvalidArgument,
              .message = file + " is not a kubeconfig: it contains " + version + " " + kind +
                         ", not v1 Config"});
  }
  if (top.error()) return *top.error();
  return config;
}

void MergeKubeconfig(Kubeconfig& into, Kubeconfig other) {
  into.clusters.merge(other.clusters);
  into.users.merge(other.users);
  into.contexts.merge(other.contexts);
  if (into.current_context.empty()) into.current_context = std::move(other.current_context);
}

Result<LoadedKubeconfig> LoadKubeconfig(const std::vector<std::string>& files) {
  LoadedKubeconfig loaded;
  for (const std::string& file : files) {
    Result<json::Value> document = ReadDocument(file);
    if (!document && document.error().Is(ErrorCode::kNotFound)) continue;
    if (!document) return document.error();
    ++loaded.found;
    if (document->IsNull()) continue;  // an empty file
    Result<Kubeconfig> config = ParseKubeconfig(*document, file);
    if (!config) return config.error();
    MergeKubeconfig(loaded.config, std::move(*config));
  }
  return loaded;
}

std::vector<std::string> SplitPathList(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(':'), list.size());
    const std::string part(list.substr(0, end));
    if (!part.empty() && std::find(parts.begin(), parts.end(), part) == parts.end()) {
      parts.push_back(part);
    }
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return parts;
}

}  // namespace client
