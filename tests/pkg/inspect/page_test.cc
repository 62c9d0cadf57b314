#include "pkg/inspect/page.h"

#include <catch2/catch.hpp>

namespace page_test {

using Catch::Matchers::Contains;
using inspect::Page;
using inspect::PageHtml;
using inspect::UsageLine;

UsageLine LineOf(const std::string& ns, const std::string& name, const char* used,
                 const char* hard) {
  return {.kind = "",
          .quota = {ns, "compute"},
          .name = name,
          .hard = *quota::Quantity::Parse(hard),
          .used = *quota::Quantity::Parse(used)};
}

Page Small() {
  return {.title = "team-a",
          .source = "https://127.0.0.1:6443",
          .made = base::WallTime(std::chrono::hours(24)),
          .lines = {LineOf("team-a", "pods", "4", "4"), LineOf("team-a", "requests.cpu", "1", "4")},
          .holders = {{"pods", {{.title = "job.batch/<x>", .amount = {}, .share = 0.5}}}},
          .notes = {}};
}

TEST_CASE("page: it shows full limits, top holders and every limit", "[inspect]") {
  const std::string html = PageHtml(Small());
  CHECK_THAT(html, Contains("<h1>Quotas of team-a</h1>\n<p>https://127.0.0.1:6443, "
                            "1970-01-02T00:00:00Z</p>"));
  CHECK_THAT(html, Contains("<div><b>1</b>limit used up</div>"));
  CHECK_THAT(html, Contains("<h2>Used up, or nearly</h2>"));
  CHECK_THAT(html, Contains("<tr><td>compute<td>requests.<wbr>cpu<td>1<td>4<td>25%<td class=g "
                            "style=--p:25%><td>3\n"));
  CHECK_THAT(html, Contains("<h2>Who uses most pods</h2>"));
  CHECK_THAT(html, !Contains("Not in force"));
  CHECK_THAT(html, !Contains("<details"));
}

TEST_CASE("page: foreign names are escaped, and nothing is loaded from elsewhere", "[inspect]") {
  const std::string html = PageHtml(Small());
  CHECK_THAT(html, Contains("job.batch/&lt;x>"));
  for (const char* elsewhere : {"src=", "href=", "@import", "url("}) {
    CHECK_THAT(html, !Contains(elsewhere));
  }
}

TEST_CASE("page: limits over many namespaces have a fold of their own", "[inspect]") {
  Page page = Small();
  UsageLine over_many = LineOf("", "pods", "19", "20");
  over_many.kind = "clusterquota";
  over_many.quota.name = "company";
  page.lines.push_back(over_many);
  const std::string html = PageHtml(page);
  CHECK_THAT(html, Contains("<div><b>1</b>namespace</div>") &&
                       Contains("<div><b>2</b>quotas</div>") &&
                       Contains("<tr><td><td>clusterquota/company<td>pods<td>19") &&
                       Contains("<details data-n=\"&lt;ClusterQuotas>\">"));
}

constexpr std::size_t kMost = 5'000'000;

std::size_t Occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

// Returns a page with this number of namespaces, and limits of `names` names in each.
Page Cluster(int namespaces, int names) {
  Page page = Small();
  page.lines.clear();
  for (int i = 0; i < namespaces; ++i) {
    for (int name = 0; name < names; ++name) {
      page.lines.push_back(LineOf("team-" + std::to_string(i),
                                  "count/things" + std::to_string(name) + ".io", "1536Mi",
                                  "8192Mi"));
    }
  }
  return page;
}

TEST_CASE("page: a large cluster is folded and stays below 5 MB", "[inspect]") {
  const std::string html = PageHtml(Cluster(5000, 6));
  CHECK(html.size() < kMost);
  CHECK_THAT(html, Contains("<details data-n=\"team-4999\"><summary>"));
  CHECK(Occurrences(html, "<tr><td>compute<td>count/<wbr>") == 30'000);
}

TEST_CASE("page: beyond 5 MB the emptiest namespaces are left out first", "[inspect]") {
  const std::string many_names = PageHtml(Cluster(5000, 30));
  CHECK(many_names.size() < kMost);
  CHECK(Occurrences(many_names, "<details data-n") == 5000);
  CHECK_THAT(many_names, Contains("show their fullest limit only.</p>"));
  const std::string many_spaces = PageHtml(Cluster(60'000, 1));
  CHECK(many_spaces.size() < kMost);
  CHECK_THAT(many_spaces, Contains(" more are less full.</p>"));
}

TEST_CASE("page: the first of many full limits are shown and the others folded", "[inspect]") {
  Page page = Small();
  page.lines.assign(250, LineOf("team-a", "pods", "4", "4"));
  const std::string html = PageHtml(page);
  CHECK_THAT(html, Contains("<details><summary><span>230 more, the first 180 of them</span>"));
}

TEST_CASE("page: a namespace with 200 quotas folds each of them", "[inspect]") {
  Page page = Small();
  for (int i = 0; i < 200; ++i) {
    page.lines.push_back(LineOf("team-a", "pods", "1", "4"));
    page.lines.back().quota.name = "q-" + std::to_string(i);
  }
  const std::string html = PageHtml(page);
  CHECK(html.size() < kMost);
  CHECK(Occurrences(html, "<details data-n") == 201);
  CHECK_THAT(html, Contains("placeholder=\"Find a quota\""));
}

}  // namespace page_test
