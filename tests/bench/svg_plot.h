#pragma once

// Curves over time as an SVG file: panels one above the other, which share the time axis. Light
// background, axes with numbers, a legend in each panel.
//
// Values; any thread.

#include <string>
#include <utility>
#include <vector>

namespace bench {

struct Curve {
  std::string name;
  std::string color;                              // "#1f77b4"
  std::vector<std::pair<double, double>> points;  // time in minutes, value; rising in time
  bool dots = false;                              // points that are not joined
};

struct Panel {
  std::string title;
  std::string unit;
  std::vector<Curve> curves;
};

struct Plot {
  std::string title;
  std::string subtitle;
  std::vector<Panel> panels;
  std::vector<double> marks;  // moments, in minutes: a thin line through the last panel
};

std::string ToSvg(const Plot& plot);

}  // namespace bench
