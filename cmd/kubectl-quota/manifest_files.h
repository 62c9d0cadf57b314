#pragma once

// Reads manifests where kubectl's -f and -k would: files, folders, patterns, URLs, stdin, and the
// output of kustomize. Errors: kInvalidArgument, naming the file, its line or its object; of URLs
// and kustomize also others.

#include <string>
#include <vector>

#include "cmd/kubectl-quota/arguments.h"
#include "pkg/base/error.h"
#include "pkg/inspect/manifest.h"

namespace kubectl_quota {

// Returns the text of a file or a URL in UTF-8, as InUtf8(); "-" is stdin.
base::Result<std::string> ReadText(const std::string& path);
// Returns all manifests in these places. Of a folder the files with .yaml, .yml and .json are read;
// with `recursive` also those of the folders in it, but not behind symbolic links.
base::Result<std::vector<inspect::Manifest>> ReadFiles(const std::vector<std::string>& paths,
                                                       bool recursive = false);
// Returns the manifests that `check` is called with.
base::Result<std::vector<inspect::Manifest>> ReadChecked(const CheckOptions& check);

}  // namespace kubectl_quota
