#pragma once

// The manifests of `check`, by namespace.

#include <map>
#include <string>
#include <vector>

#include "cmd/kubectl-quota/arguments.h"
#include "pkg/client/discovery.h"
#include "pkg/inspect/manifest.h"

namespace kubectl_quota {

using ManifestsByNamespace = std::map<std::string, std::vector<inspect::Manifest>>;

// The error of a wrong file or call: kInvalidArgument.
base::Error WrongInput(const std::string& why);
// True for a Namespace with a name.
bool IsNamespace(const inspect::Manifest& manifest);
// Errors: kInvalidArgument, in kubectl's words, if -n names another namespace than the object.
base::Result<void> CheckNamespace(const inspect::Manifest& manifest, const Options& options);
// Of several manifests for one object the last one stands (Manifest::earlier). An object with a
// generated name is a new one each time.
void DropRepeated(std::vector<inspect::Manifest>& manifests);

// Returns all manifests of -f, as far as a server would store them: without a status and what else
// only a server sets, of two for the same object the last one, and without what the controller of
// another one makes. Those without a namespace are put into `ns`, a Namespace beside the objects in
// it. Each group is in the order of its files, but hooks of Helm are before or behind the others.
// `kinds` may be empty. Errors: kInvalidArgument, naming the file, its line or its object.
base::Result<ManifestsByNamespace> ReadGrouped(const Options& options, const std::string& ns,
                                               const client::Discovered& kinds = {});

}  // namespace kubectl_quota
