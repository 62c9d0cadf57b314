#include "cmd/quota-controller-manager/break_glass.h"

#include <iostream>
#include <utility>

#include "cmd/quota-controller-manager/run_once.h"
#include "pkg/api/object_meta.h"
#include "pkg/base/duration.h"
#include "pkg/base/scheduler.h"
#include "pkg/webhook/ownership.h"
#include "pkg/webhook/webhook_configuration.h"

namespace manager {
namespace {

constexpr std::chrono::seconds kPatchTimeout{15};
constexpr int kPatchTries = 5;  // running daemons may write at the same time

base::Error CannotOpen(const std::string& why) {
  return {.code = base::ErrorCode::kUnavailable, .message = why};
}

// Guarded by the version that was read, because the owner of a later version was not checked.
// `lasts` null: for good.
json::Value OpeningPatch(const json::Value& live, json::Value lasts) {
  json::Object annotations{{std::string(webhook::kBreakGlassAnnotation), "true"},
                           {std::string(webhook::kBreakGlassForAnnotation), std::move(lasts)}};
  return json::Object{
      {"metadata", json::Object{{"resourceVersion", std::string(api::ResourceVersion(live))},
                                {"annotations", std::move(annotations)}}},
      {"webhooks", json::Array()}};
}

base::Task<base::Result<void>> Open(client::ApiClient& client, std::string installation,
                                    base::Duration lasts, std::ostream& out) {
  const std::string& name = webhook::ConfigurationOptions().name;
  const std::string path = webhook::kWebhookConfigurations.Path({}, name);
  client::ApiRequest look{.path = path, .timeout = kPatchTimeout};
  const auto live = co_await client::DoJson(client, std::move(look));
  if (!live && live.error().Is(base::ErrorCode::kNotFound)) {
    out << "validatingwebhookconfiguration " << name << ": there is none" << std::endl;
    co_return base::Result<void>();
  }
  if (!live) co_return live.error();
  const std::string other(webhook::InstallationOf(*live));
  if (!webhook::HasOurLabel(*live) || (!other.empty() && other != installation)) {
    co_return CannotOpen("validatingwebhookconfiguration " + name +
                         " is not this installation's, " + installation +
                         (other.empty() ? "" : ", but that of " + other));
  }
  // What is open for good stays so. Each other opening has a text of its own, so that daemons
  // measure its time anew.
  const bool for_good = lasts == base::Duration::zero() ||
                        (webhook::AnnotationOf(*live, webhook::kBreakGlassAnnotation) == "true" &&
                         webhook::AnnotationOf(*live, webhook::kBreakGlassForAnnotation).empty());
  json::Value for_how_long;
  if (!for_good) {
    for_how_long =
        base::FormatDuration(lasts) + " (version " + std::string(api::ResourceVersion(*live)) + ")";
  }
  client::ApiRequest request;
  request.verb = "PATCH";
  request.path = path;
  request.content_type = client::kMergePatch;
  request.body = json::Write(OpeningPatch(*live, std::move(for_how_long)));
  request.timeout = kPatchTimeout;
  const auto done = co_await client.Do(std::move(request));
  if (!done) co_return done.error();
  out << "validatingwebhookconfiguration " << name
      << ": emptied, and stays empty until its annotation " << webhook::kBreakGlassAnnotation
      << " is removed"
      << (for_good ? "" : ", which running daemons do after " + base::FormatDuration(lasts))
      << std::endl;
  co_return base::Result<void>();
}

}  // namespace

base::Task<base::Result<void>> BreakGlass(client::ApiClient& client, std::string installation,
                                          base::Duration lasts, std::ostream& out) {
  base::Result<void> result;
  for (int i = 0; i < kPatchTries; ++i) {
    result = co_await Open(client, installation, lasts, out);
    if (result || !result.error().Is(base::ErrorCode::kConflict)) break;
  }
  co_return result;
}

base::Result<void> BreakGlass(boost::asio::io_context& io, const Options& options) {
  const auto task = [&](client::ApiClient& client, base::Scheduler&, const api::ObjectKey& lease) {
    return BreakGlass(client, lease.ToString(), options.break_glass_for, std::cout);
  };
  return RunOnce(io, options, "break glass", task);
}

}  // namespace manager
