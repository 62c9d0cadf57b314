#pragma once

// Manifests that are not in files: a page of the web, and the output of `kubectl kustomize`. Each
// call blocks until it is done. Any thread.

#include <chrono>
#include <cstddef>
#include <string>

#include "pkg/base/error.h"

namespace kubectl_quota {

// True for what `-f` downloads: http:// or https://.
bool IsUrl(const std::string& path);

struct DownloadLimits {
  std::size_t bytes = std::size_t{32} << 20;
  std::chrono::milliseconds time{30'000};  // with all redirections, at most ten
};

// Gets a page as kubectl's -f does: without the credentials of the cluster, with those of the URL,
// and through the proxy of the environment. Errors, without those credentials: kInvalidArgument if
// the URL or what the server answers cannot be used, kTooLarge, kTimeout, kUnavailable, kTls.
base::Result<std::string> Download(const std::string& url, const DownloadLimits& limits = {});

// Runs `kubectl kustomize FOLDER`, for at most two minutes. Errors: kInvalidArgument with its
// words, or if kubectl is not on PATH; kTooLarge, kTimeout.
base::Result<std::string> Kustomize(const std::string& folder);

}  // namespace kubectl_quota
