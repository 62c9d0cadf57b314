#pragma once

// The helm of QCM_HELM, and the project's chart.

#include <string>
#include <vector>

#include "tests/e2e/harness/process.h"
#include "tests/source_dir.h"

namespace e2e {

inline const std::string kChart = tests::SourcePath("/manifests/helm/quota-controller-manager");

// Runs `helm ARGUMENTS…`.
ProgramResult Helm(std::vector<std::string> arguments);
// The same, and returns its output; throws if it fails.
std::string MustHelm(std::vector<std::string> arguments);

}  // namespace e2e
