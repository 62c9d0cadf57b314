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

TEST_CASE("page: says what is full, who uses most, and every limit", "[inspect]") {
  const std::string html = PageHtml(Small());
  CHECK_THAT(html, Contains("<h1>Quotas of team-a</h1>\n<p>https://127.0.0.1:6443, "
                            "1970-01-02T00:00:00Z</p>"));
  CHECK_THAT(html, Contains("<div><b>1</b>limits used up</div>"));
  CHECK_THAT(html, Contains("<h2>Used up, or nearly</h2>"));
  CHECK_THAT(html, Contains("<tr><td>compute<td>requests.cpu<td>1<td>4<td>25%<td><i class=g "
                            "style=--p:25%></i><td>3\n"));
  CHECK_THAT(html, Contains("<h2>Who uses most pods</h2>"));
  CHECK_THAT(html, !Contains("Not in force"));
  CHECK_THAT(html, !Contains("<details"));
}

TEST_CASE("page: foreign names are text, and nothing comes from elsewhere", "[inspect]") {
  const std::string html = PageHtml(Small());
  CHECK_THAT(html, Contains("job.batch/&lt;x>"));
  for (const char* elsewhere : {"src=", "href=", "@import", "url("}) {
    CHECK_THAT(html, !Contains(elsewhere));
  }
}

TEST_CASE("page: a large cluster is folded and stays below 5 MB", "[inspect]") {
  Page page = Small();
  page.lines.clear();
  for (int i = 0; i < 5000; ++i) {
    for (const char* name : {"requests.cpu", "requests.memory", "limits.cpu", "limits.memory",
                             "pods", "services.loadbalancers"}) {
      page.lines.push_back(LineOf("team-" + std::to_string(i), name, "1536Mi", "8192Mi"));
    }
  }
  const std::string html = PageHtml(page);
  CHECK(html.size() < std::size_t{5} << 20);
  CHECK_THAT(html, Contains("<details data-n=\"team-4999\"><summary>"));
}

}  // namespace page_test
