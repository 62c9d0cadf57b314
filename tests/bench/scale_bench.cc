// What do very many objects, events and changes cost the daemon?
//
//   scale_bench [--most-objects N] [--pods N] [--events N] [--seconds N] [--quotas N]
//               [--out FOLDER] [QUESTION…]
//
// Churn and resync need QCM_E2E_SERVER; the others start their own server.

#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <vector>

#include "tests/bench/run_main.h"
#include "tests/bench/scale_questions.h"

namespace bench {
namespace {

struct Question {
  std::string name;
  std::function<void(const Scale&)> ask;
};

const std::vector<Question>& Questions() {
  static const std::vector<Question> questions{
      {"memory", AskMemoryOfObjects}, {"new-quota", AskNewQuota}, {"burst", AskBurst},
      {"recounts", AskRecounts},      {"groups", AskGroups},      {"defined", AskDefinitions},
      {"resync", AskResync},          {"churn", AskChurn}};
  return questions;
}

int Usage() {
  std::cerr << "usage: scale_bench [--most-objects N] [--pods N] [--events N] [--seconds N] "
               "[--quotas N] [--out FOLDER] [QUESTION…]\nquestions:";
  for (const Question& question : Questions()) std::cerr << " " << question.name;
  std::cerr << "\n";
  return 2;
}

int Main(const std::vector<std::string>& arguments) {
  Scale scale;
  const std::map<std::string, int*> numbers{{"--most-objects", &scale.most_objects},
                                            {"--pods", &scale.pods},
                                            {"--events", &scale.events},
                                            {"--seconds", &scale.seconds},
                                            {"--quotas", &scale.quotas}};
  std::vector<const Question*> asked;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const auto number = numbers.find(argument);
    if (number != numbers.end() || argument == "--out") {
      if (++i == arguments.size()) return Usage();
      if (argument == "--out") {
        scale.out = arguments[i];
      } else if ((*number->second = std::atoi(arguments[i].c_str())) <= 0) {
        return Usage();
      }
      continue;
    }
    for (const Question& question : Questions()) {
      if (question.name == argument) asked.push_back(&question);
    }
    if (asked.empty() || asked.back()->name != argument) return Usage();
  }
  if (asked.empty()) {
    for (const Question& question : Questions()) asked.push_back(&question);
  }
  for (const Question* question : asked) question->ask(scale);
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) { return bench::RunMain("scale_bench", argc, argv, bench::Main); }
