#include "pkg/quota/ironcore/ironcore_quota.h"

#include <glog/logging.h>

#include "pkg/config/yaml.h"
#include "pkg/quota/ironcore/definitions.h"
#include "pkg/quota/object_counter.h"
#include "pkg/quota/usage/defined_evaluator.h"

namespace quota {
namespace {

constexpr const char* kVersion = "v1alpha1";

// The text is a part of the program.
Evaluator EvaluatorOf(std::string_view text) {
  const auto object = config::ParseYaml(text);
  CHECK(object) << object.error().message;
  auto definition = usage::ParseUsageDefinition(*object, usage::Names::kAny);
  CHECK(definition) << definition.error().message;
  // ironcore's plugin computes the usage of an object, and refuses it, whatever is limited.
  CHECK(definition->invalid == usage::InvalidAmount::kIgnore) << definition->name;
  definition->invalid = usage::InvalidAmount::kRefuse;
  Evaluator evaluator = usage::EvaluatorOf(*definition);
  evaluator.version = kVersion;
  evaluator.guard.subresources.clear();  // no kind of ironcore has `scale`
  evaluator.guard.fields.clear();
  return evaluator;
}

std::vector<Evaluator> AllEvaluators() {
  std::vector<Evaluator> all;
  for (const std::string_view text : ironcore::DefinitionTexts()) all.push_back(EvaluatorOf(text));
  return all;
}

}  // namespace

QuotaApi IroncoreQuotaApi() {
  return {
      .name = "ironcore",
      .resource = {.group = "core.ironcore.dev", .version = kVersion, .resource = "resourcequotas"},
      .kind = "ResourceQuota",
      .evaluators = AllEvaluators(),
      .object_counter = CountAnyKind,
      .counted_resource = AnyCountedKind,
      .fields = QuotaFields(),
      // Nobody validates selectors when they are written, and a scope only means objects with a
      // class.
      .form = {.tolerant = true, .not_in_without_class = false},
  };
}

}  // namespace quota
