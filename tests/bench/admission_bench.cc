// What does admission cost, and does the limit hold? Compares the daemon with the built-in plugin,
// with a webhook that allows everything without reading it, and with no quota, each on a real
// kube-apiserver.
//
//   admission_bench [--rounds N] [--creations N] [--reviews N] [QUESTION…]      default: all

#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "tests/bench/admission_questions.h"
#include "tests/bench/run_main.h"

namespace bench {
namespace {

struct Question {
  std::string name;
  std::function<void(const Size&)> ask;
};

const std::vector<Question>& Questions() {
  static const std::vector<Question> questions{
      {"rate", AskRate},
      {"quiet", [](const Size&) { AskQuietUpdates(); }},
      {"limit", [](const Size&) { AskLimit(); }},
      {"two", [](const Size&) { AskTwoDaemons(); }},
      {"replicas", AskReplicas},
      {"namespaces", [](const Size&) { AskNamespaces(); }},
      {"leak", [](const Size&) { AskRefusedByStore(); }},
      {"killed", [](const Size&) { AskKilled(); }},
      {"cluster", AskCluster},
      {"both", AskBoth},
      {"defined", AskDefined},
      {"tree", AskTree},
      {"reach", [](const Size&) { AskReach(); }},
      {"memory", AskMemory},
  };
  return questions;
}

int Usage() {
  std::cerr << "usage: admission_bench [--rounds N] [--creations N] [--reviews N] [QUESTION…]\n"
               "questions:";
  for (const Question& question : Questions()) std::cerr << " " << question.name;
  std::cerr << "\n";
  return 2;
}

int Main(const std::vector<std::string>& arguments) {
  Size size;
  const std::map<std::string, int*> numbers{
      {"--rounds", &size.rounds}, {"--creations", &size.creations}, {"--reviews", &size.reviews}};
  std::vector<const Question*> asked;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto number = numbers.find(arguments[i]);
    if (number != numbers.end()) {
      *number->second = i + 1 < arguments.size() ? std::atoi(arguments[++i].c_str()) : 0;
      if (*number->second <= 0) return Usage();
      continue;
    }
    const std::size_t before = asked.size();
    for (const Question& question : Questions()) {
      if (question.name == arguments[i]) asked.push_back(&question);
    }
    if (asked.size() == before) return Usage();
  }
  if (asked.empty()) {
    for (const Question& question : Questions()) asked.push_back(&question);
  }
  for (const Question* question : asked) question->ask(size);
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::RunMain("admission_bench", argc, argv, bench::Main);
}
