#include "tests/bench/svg_plot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace bench {
namespace {

constexpr double kWidth = 960;
constexpr double kLeft = 70;
constexpr double kRight = 32;
constexpr double kTop = 64;
constexpr double kPanel = 120;
constexpr double kGap = 44;

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  std::string number = text;
  number.erase(number.find_last_not_of('0') + 1);
  if (number.ends_with('.')) number.pop_back();
  return number;
}

std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

// 1, 2 or 5 times a power of ten, so that about `parts` of them make `span`.
double StepFor(double span, int parts) {
  const double rough = std::max(span, 1e-9) / parts;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double times : {1.0, 2.0, 5.0}) {
    if (rough <= times * power) return times * power;
  }
  return 10 * power;
}

class Writer {
 public:
  explicit Writer(const Plot& plot) : plot_(plot) {
    for (const Panel& panel : plot.panels) {
      for (const Curve& curve : panel.curves) {
        if (curve.points.empty()) continue;
        most_x_ = std::max(most_x_, curve.points.back().first);
        if (plot.log_x) least_x_ = std::min(least_x_, curve.points.front().first);
      }
    }
    if (plot.log_x) most_x_ = std::max(most_x_, 10 * least_x_);  // also if there is only one x
  }

  std::string Write() {
    const double height = kTop + static_cast<double>(plot_.panels.size()) * (kPanel + kGap) + 14;
    svg_ = R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 )" + Number(kWidth) + " " +
           Number(height) + R"(" font-family="Helvetica, Arial, sans-serif">)" + "\n";
    svg_ += "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
    Text(kLeft, 24, 17, "#202020", plot_.title);
    Text(kLeft, 44, 12, "#606060", plot_.subtitle);
    double top = kTop + 10;
    for (const Panel& panel : plot_.panels) {
      Draw(panel, top);
      top += kPanel + kGap;
    }
    Text(kWidth / 2, height - 8, 12, "#606060", plot_.x_title, "middle");
    return svg_ + "</svg>\n";
  }

 private:
  [[nodiscard]] double X(double x) const {
    const double share =
        plot_.log_x ? std::log(x / least_x_) / std::log(most_x_ / least_x_) : x / most_x_;
    return kLeft + share * (kWidth - kLeft - kRight);
  }

  // The numbers on the axis: powers of ten if it is logarithmic.
  [[nodiscard]] std::vector<double> Ticks() const {
    std::vector<double> ticks;
    if (plot_.log_x) {
      for (double tick = 1; tick <= most_x_; tick *= 10) {
        if (tick >= least_x_) ticks.push_back(tick);
      }
      return ticks;
    }
    const double step = StepFor(most_x_, 12);
    for (double tick = 0; tick <= most_x_; tick += step) ticks.push_back(tick);
    return ticks;
  }

  void Text(double x, double y, int size, const std::string& color, const std::string& text,
            const std::string& anchor = "start") {
    svg_ += "<text x=\"" + Number(x) + "\" y=\"" + Number(y) + "\" font-size=\"" +
            std::to_string(size) + "\" fill=\"" + color + "\" text-anchor=\"" + anchor + "\">" +
            Escaped(text) + "</text>\n";
  }

  void Line(double x1, double y1, double x2, double y2, const std::string& color) {
    svg_ += "<line x1=\"" + Number(x1) + "\" y1=\"" + Number(y1) + "\" x2=\"" + Number(x2) +
            "\" y2=\"" + Number(y2) + "\" stroke=\"" + color + "\"/>\n";
  }

  void Draw(const Panel& panel, double top) {
    double most = 1;
    for (const Curve& curve : panel.curves) {
      for (const auto& [time, value] : curve.points) most = std::max(most, value);
    }
    const double step = StepFor(most, 4);
    most = std::ceil(most / step) * step;
    const auto y = [&](double value) { return top + kPanel - value / most * kPanel; };
    for (double value = 0; value <= most + step / 2; value += step) {
      Line(kLeft, y(value), kWidth - kRight, y(value), "#e4e4e4");
      Text(kLeft - 6, y(value) + 4, 11, "#606060", Number(value), "end");
    }
    for (const double tick : Ticks()) {
      Line(X(tick), top + kPanel, X(tick), top + kPanel + 4, "#808080");
      Text(X(tick), top + kPanel + 16, 11, "#606060", Number(tick), "middle");
    }
    if (&panel == &plot_.panels.back()) {
      for (const double mark : plot_.marks) Line(X(mark), top, X(mark), top + kPanel, "#f3d0d0");
    }
    Line(kLeft, top + kPanel, kWidth - kRight, top + kPanel, "#808080");
    Text(kLeft, top - 6, 12, "#202020", panel.title + " [" + panel.unit + "]");
    double legend = kWidth - kRight;
    for (const Curve& curve : panel.curves) {
      Text(legend, top - 6, 11, curve.color, curve.name, "end");
      legend -= 12 + 6.2 * static_cast<double>(curve.name.size());
      Join(curve, y);
    }
  }

  template <typename Y>
  void Join(const Curve& curve, const Y& y) {
    constexpr std::size_t kFew = 12;  // few enough to show each
    if (curve.dots || curve.points.size() <= kFew) {
      for (const auto& [time, value] : curve.points) {
        svg_ += "<circle cx=\"" + Number(X(time)) + "\" cy=\"" + Number(y(value)) +
                "\" r=\"2.2\" fill=\"" + curve.color + "\"/>\n";
      }
    }
    if (curve.dots) return;
    svg_ += "<polyline fill=\"none\" stroke-width=\"1.3\" stroke=\"" + curve.color + "\" points=\"";
    for (const auto& [time, value] : curve.points) {
      svg_ += Number(X(time)) + "," + Number(y(value)) + " ";
    }
    svg_ += "\"/>\n";
  }

  const Plot& plot_;
  double least_x_ = 1e9;  // on a logarithmic axis; else it begins at zero
  double most_x_ = 0.1;
  std::string svg_;
};

}  // namespace

std::string ToSvg(const Plot& plot) { return Writer(plot).Write(); }

}  // namespace bench
