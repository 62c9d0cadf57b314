#pragma once

// Curves over time or size as an SVG file: panels one above the other with a common axis. Light
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
  std::vector<std::pair<double, double>> points;  // x, value; rising in x
  bool dots = false;                              // draw points without lines between them
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
  std::vector<double> marks;  // thin lines at these x through the last panel
  std::string x_title = "minutes";
  bool log_x = false;  // from the least x on, which is at least 1, to a greater one
};

std::string ToSvg(const Plot& plot);

}  // namespace bench
