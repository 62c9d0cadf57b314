#include "tests/manifests/helm.h"

#include <cstdlib>
#include <stdexcept>

#include "tests/e2e/harness/wait.h"

namespace e2e {

ProgramResult Helm(std::vector<std::string> arguments) {
  const char* helm = std::getenv("QCM_HELM");
  if (helm == nullptr || *helm == '\0') throw std::runtime_error("the tests need QCM_HELM");
  arguments.insert(arguments.begin(), helm);
  return RunProgram({.argv = std::move(arguments)}, Stretched(60s));
}

std::string MustHelm(std::vector<std::string> arguments) {
  auto result = Helm(std::move(arguments));
  if (result.exit_code != 0) throw std::runtime_error("helm:\n" + result.output);
  return std::move(result.output);
}

}  // namespace e2e
