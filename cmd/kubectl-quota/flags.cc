#include "cmd/kubectl-quota/flags.h"

#include <CLI/CLI.hpp>

namespace kubectl_quota {
namespace {

// As in kubectl, the last of several values counts.
template <typename Value>
CLI::Option* AddOne(CLI::App& app, const std::string& name, Value& into, const std::string& about) {
  return app.add_option(name, into, about)->take_last();
}

CLI::Option* AddMany(CLI::App& app, const std::string& name, std::vector<std::string>& into,
                     const std::string& about) {
  return app.add_option(name, into, about)->expected(1)->take_all();
}

void AddIdentity(CLI::App& app, client::UserEntry& user, RawFlags& raw) {
  AddOne(app, "--token", user.token, "The bearer token for the API server");
  AddOne(app, "--client-certificate", user.cert_file, "A file with a client certificate");
  AddOne(app, "--client-key", user.key_file, "A file with its key");
  AddOne(app, "--username", user.username, "The user name for basic authentication");
  AddOne(app, "--password", user.password, "The password for basic authentication");
  AddOne(app, "--as", user.as, "The user to impersonate");
  AddMany(app, "--as-group", user.as_groups, "A group to impersonate; may be repeated");
  AddOne(app, "--as-uid", user.as_uid, "The UID to impersonate");
  AddMany(app, "--as-user-extra", raw.as_user_extra, "KEY=VALUE to impersonate; may be repeated");
}

void AddConnection(CLI::App& app, Place& place, RawFlags& raw) {
  AddOne(app, "--kubeconfig", place.kubeconfig, "The kubeconfig to use");
  AddOne(app, "--context", place.context, "The context of the kubeconfig");
  AddOne(app, "--cluster", place.flags.cluster_name, "The cluster of the kubeconfig");
  AddOne(app, "--user", place.flags.user_name, "The user of the kubeconfig");
  client::ClusterEntry& cluster = place.flags.cluster;
  AddOne(app, "-s,--server", cluster.server, "The URL of the API server");
  AddOne(app, "--certificate-authority", cluster.ca_file, "A file with the CA to trust");
  app.add_flag("--insecure-skip-tls-verify", cluster.insecure,
               "Do not verify the API server. Others can then read and change everything");
  AddOne(app, "--tls-server-name", cluster.tls_server_name, "The name in the server's certificate");
  app.add_flag("--disable-compression", cluster.disable_compression,
               "Do not ask for compressed answers");
  AddOne(app, "--request-timeout", raw.request_timeout,
         "How long one request may take, such as 5s or 1m; 0: no limit of yours");
}

void AddWhoFlags(CLI::App& app, WhoOptions& who, RawFlags& raw) {
  app.add_option("QUOTA", who.quota, "The quota: NAME, or KIND/NAME, as clusterquota/team-a")
      ->required();
  app.add_option("NAME", raw.quota_name, "Its name, if QUOTA is the kind");
  AddOne(app, "--name", who.name, "Only this name of its limits, as requests.cpu");
  AddOne(app, "--by", who.by, "owner (the default), object, namespace, or label=KEY");
  AddOne(app, "--most", who.most, "How many holders of each name are shown; 0: all")
      ->capture_default_str();
  app.add_flag("--unused", who.unused,
               "Only PersistentVolumeClaims that no pod uses, and since when");
}

void AddCheckFlags(CLI::App& app, CheckOptions& check, RawFlags& raw) {
  AddMany(app, "-f,--filename", check.files,
          "Manifests: a file, a folder, a URL, or - for stdin; several with commas");
  AddOne(app, "-k,--kustomize", check.kustomize, "Manifests: what kustomize makes of a folder");
  app.add_flag("-R,--recursive", check.recursive, "Read the folders in folders of -f, too");
  app.add_flag("--replace", check.replace, "Treat stored objects as new, not as changed");
  AddOne(app, "--dry-run", raw.dry_run, "server: also send new objects to the server as a dry run")
      ->check(CLI::IsMember({"none", "client", "server"}));
  app.add_flag("--allow-unknown", check.allow_unknown,
               "Say yes if all that is known fits, although something is not known");
  app.add_flag("--validate,!--no-validate", check.validate,
               "Fail at unknown fields; --validate=false ignores them");
  AddOne(app, "--nodes", check.nodes, "How many nodes DaemonSets run on, instead of counting")
      ->check(CLI::Range(0, 1'000'000));
  AddMany(app, "--quota-file", check.quota_files,
          "File with the quotas, instead of the cluster's. The cluster is asked only for labels of "
          "namespaces, if a ClusterQuota needs them and no file has them");
  AddMany(app, "--limitrange-file", check.limit_range_files, "LimitRanges for --quota-file");
  AddOne(app, "--used-file", check.used_file, "What is used: quotas with status, or amounts");
}

void AddImportFlags(CLI::App& app, ImportOptions& imports) {
  AddMany(app, "-f,--filename", imports.files,
          "The quotas: a file, a folder, a URL, or - for stdin; several with commas. Without it, "
          "those of the cluster");
  app.add_flag("-R,--recursive", imports.recursive, "Read the folders in folders of -f, too");
  AddOne(app, "--enforcement", imports.enforcement, "spec.enforcement: Deny, Warn or Audit")
      ->check(CLI::IsMember({"Deny", "Warn", "Audit"}))
      ->capture_default_str();
}

void AddUsageDefinitionFlags(CLI::App& app, UsageDefinitionOptions& options) {
  app.add_option("ACTION", options.action, "test: show what each object uses");
  AddMany(app, "-f,--filename", options.files,
          "Definitions, objects, their classes, and CustomResourceDefinitions: a file, a folder, a "
          "URL, or - for stdin; several with commas");
  app.add_flag("-R,--recursive", options.recursive, "Read the folders in folders of -f, too");
}

}  // namespace

void AddCommonFlags(CLI::App& app, Options& options, RawFlags& raw) {
  Place& place = options.place;
  AddOne(app, "-n,--namespace", place.ns, "The namespace; the context's if not given");
  app.add_flag("-A,--all-namespaces", place.all_namespaces, "All namespaces");
  AddOne(app, "-l,--selector", place.selector, "Only quotas with these labels, as app=web,!old");
  AddOne(app, "-o,--output", options.output,
         "Output format: wide, name, json, yaml, csv, junit or html");
  app.add_flag_callback(
      "--no-headers", [&options] { options.headers = false; }, "Do not print column titles");
  AddConnection(app, place, raw);
  AddIdentity(app, place.flags.user, raw);
  AddOne(app, "-v,--v", options.verbosity, "6 or more: print each request to stderr");
}

void AddFlagsOf(Command command, CLI::App& app, Options& options, RawFlags& raw) {
  switch (command) {
    case Command::kWho:
      AddWhoFlags(app, options.who, raw);
      break;
    case Command::kWhy:
      app.add_option("OBJECT", options.why.objects,
                     "KIND/NAME or KIND NAME of what makes pods, or a pod's NAME")
          ->required();
      break;
    case Command::kCheck:
      AddCheckFlags(app, options.check, raw);
      break;
    case Command::kTree:
      app.add_option("QUOTA", options.tree.quota, "Only this ClusterQuota and those below it");
      break;
    case Command::kSuggest:
      AddOne(app, "--headroom", options.suggest.headroom, "How much more than is used now")
          ->capture_default_str();
      break;
    case Command::kImport:
      AddImportFlags(app, options.imports);
      break;
    case Command::kUsageDefinition:
      AddUsageDefinitionFlags(app, options.usage_definition);
      break;
    case Command::kVersion:
      app.add_flag("--client", options.only_client, "Do not ask the cluster");
      break;
    case Command::kReport:
    case Command::kComplete:
    case Command::kTop:
      break;
  }
}

}  // namespace kubectl_quota
