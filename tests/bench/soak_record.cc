#include "tests/bench/soak_record.h"

#include <algorithm>
#include <cstdio>

#include "tests/bench/load.h"
#include "tests/bench/svg_plot.h"

namespace bench {
namespace {

std::string Fixed(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

void AppendVitals(std::string& line, const Vitals& vitals) {
  for (const double value :
       {vitals.resident_mb, vitals.descriptors, vitals.threads, vitals.charges, vitals.drift,
        vitals.writes, vitals.advances, vitals.decisions, vitals.cpu_seconds}) {
    line.append(",").append(Fixed(value));
  }
}

}  // namespace

Trend TrendOf(const std::vector<std::pair<double, double>>& points) {
  if (points.empty()) return {};
  const auto count = static_cast<double>(points.size());
  double mean_x = 0;
  double mean_y = 0;
  for (const auto& [x, y] : points) {
    mean_x += x / count;
    mean_y += y / count;
  }
  double xx = 0;
  double xy = 0;
  for (const auto& [x, y] : points) {
    xx += (x - mean_x) * (x - mean_x);
    xy += (x - mean_x) * (y - mean_y);
  }
  const double span = points.back().first - points.front().first;
  return {.mean = mean_y, .rise = xx > 0 ? xy / xx * span : 0};
}

std::string SoakRecord::Csv() const {
  std::string csv = "seconds,fault,lag_seconds,untrue_quotas";
  for (const char* whose : {"first", "second"}) {
    for (const char* what : {"resident_mb", "descriptors", "threads", "charges", "drift", "writes",
                             "advances", "decisions", "cpu_seconds"}) {
      csv.append(",").append(whose).append("_").append(what);
    }
  }
  csv += "\n";
  for (const Sample& sample : samples_) {
    std::string line = Fixed(sample.seconds) + "," + sample.fault + ",";
    if (sample.lag_seconds >= 0) line += Fixed(sample.lag_seconds);
    line += "," + std::to_string(sample.untrue);
    AppendVitals(line, sample.first);
    AppendVitals(line, sample.second);
    csv += line + "\n";
  }
  return csv;
}

// In minutes; without the moments at which the process did not run.
std::vector<std::pair<double, double>> SoakRecord::Points(Vitals Sample::*whose,
                                                          double Vitals::*what) const {
  std::vector<std::pair<double, double>> points;
  for (const Sample& sample : samples_) {
    const Vitals& vitals = sample.*whose;
    if (vitals.resident_mb > 0) points.emplace_back(sample.seconds / 60, vitals.*what);
  }
  return points;
}

std::string SoakRecord::Svg(const std::string& subtitle) const {
  Plot plot{.title = "quota-controller-manager: soak on the sandbox, two replicas",
            .subtitle = subtitle,
            .panels = {},
            .marks = {}};
  const auto add = [&](const char* title, const char* unit, double Vitals::*what) {
    Panel panel{.title = title, .unit = unit, .curves = {}};
    panel.curves.push_back({"first replica", "#1f77b4", Points(&Sample::first, what)});
    panel.curves.push_back(
        {"second replica, killed now and then", "#ff9f40", Points(&Sample::second, what)});
    plot.panels.push_back(std::move(panel));
  };
  add("resident memory", "MB", &Vitals::resident_mb);
  add("open descriptors", "count", &Vitals::descriptors);
  add("charges held", "count", &Vitals::charges);
  add("differences that resyncs found", "count", &Vitals::drift);
  Panel lag{.title = "until every used was true, after a fault and its load",
            .unit = "s",
            .curves = {{"a settled cycle", "#2ca02c", {}, true}}};
  for (const Sample& sample : samples_) {
    if (sample.lag_seconds < 0) continue;
    lag.curves[0].points.emplace_back(sample.seconds / 60, sample.lag_seconds);
    plot.marks.push_back(sample.seconds / 60);
  }
  plot.panels.push_back(std::move(lag));
  return ToSvg(plot);
}

// A value is flat if its trend line rises by less than `bound` plus a share of the mean.
void SoakRecord::JudgeOne(const std::string& name, double Vitals::*what, double bound, double share,
                          Verdict& verdict) const {
  auto points = Points(&Sample::first, what);
  points.erase(points.begin(), points.begin() + static_cast<std::ptrdiff_t>(points.size() / 3));
  const Trend trend = TrendOf(points);
  const double most = bound + share * trend.mean;
  const bool flat = !points.empty() && trend.rise <= most;
  verdict.flat = verdict.flat && flat;
  char text[160];
  std::snprintf(text, sizeof text, "%s: mean %.2f, rise %+.2f over %.1f minutes (at most %.2f): %s",
                name.c_str(), trend.mean, trend.rise,
                points.empty() ? 0 : points.back().first - points.front().first, most,
                flat ? "flat" : "NOT FLAT");
  verdict.lines.emplace_back(text);
}

Verdict SoakRecord::Judge() const {
  Verdict verdict;
  JudgeOne("resident memory, MB", &Vitals::resident_mb, 4, 0.05, verdict);
  JudgeOne("descriptors", &Vitals::descriptors, 6, 0, verdict);
  JudgeOne("threads", &Vitals::threads, 0.5, 0, verdict);
  JudgeOne("charges held", &Vitals::charges, 5, 0.5, verdict);
  return verdict;
}

double SoakRecord::LongestLag() const {
  double longest = 0;
  for (const Sample& sample : samples_) longest = std::max(longest, sample.lag_seconds);
  return longest;
}

double SoakRecord::MedianLag() const {
  std::vector<double> lags;
  for (const Sample& sample : samples_) {
    if (sample.lag_seconds >= 0) lags.push_back(sample.lag_seconds);
  }
  return Median(std::move(lags));
}

int SoakRecord::cycles() const {
  return static_cast<int>(std::ranges::count_if(
      samples_, [](const Sample& sample) { return sample.lag_seconds >= 0; }));
}

double SoakRecord::Advances() const {
  double sum = 0;
  for (const auto whose : {&Sample::first, &Sample::second}) {
    double before = 0;
    for (const auto& [minutes, advances] : Points(whose, &Vitals::advances)) {
      sum += advances < before ? advances : advances - before;
      before = advances;
    }
  }
  return sum;
}

int SoakRecord::untrue() const {
  int sum = 0;
  for (const Sample& sample : samples_) sum += sample.untrue;
  return sum;
}

}  // namespace bench
