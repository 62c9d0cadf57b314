#include "pkg/metrics/registry.h"

#include <glog/logging.h>
#include <prometheus/check_names.h>
#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <unordered_map>
#include <utility>

namespace metrics {
namespace {

// What a handle points to. Both are null once the series is removed.
template <typename T>
struct SeriesOf {
  T* metric = nullptr;
  prometheus::Family<T>* family = nullptr;
};

// The series of one metric type, found by the library's object.
template <typename T, typename Series>
class Table {
 public:
  ~Table() {
    // Handles may outlive the registry.
    for (auto& [metric, series] : series_) *series = Series{};
  }

  template <typename... Args>
  std::shared_ptr<Series> Get(prometheus::Family<T>& family, const Labels& labels,
                              const Args&... args) {
    T& metric = family.Add(labels, args...);
    std::shared_ptr<Series>& series = series_[&metric];
    if (!series) {
      series = std::make_shared<Series>();
      series->metric = &metric;
      series->family = &family;
    }
    return series;
  }

  void Remove(Series* series) {
    if (series == nullptr || series->metric == nullptr) return;
    T* const metric = series->metric;
    CHECK_EQ(series_.count(metric), 1U) << "a series of another registry, or one that was removed";
    series->family->Remove(metric);
    *series = Series{};
    series_.erase(metric);
  }

 private:
  std::unordered_map<T*, std::shared_ptr<Series>> series_;
};

}  // namespace

struct Counter::Series : SeriesOf<prometheus::Counter> {};
struct Gauge::Series : SeriesOf<prometheus::Gauge> {};
struct Histogram::Series : SeriesOf<prometheus::Histogram> {};

void Counter::Increment(double by) const {
  if (series_ && series_->metric != nullptr) series_->metric->Increment(by);
}
double Counter::value() const {
  return series_ && series_->metric != nullptr ? series_->metric->Value() : 0.0;
}

void Gauge::Set(double value) const {
  if (series_ && series_->metric != nullptr) series_->metric->Set(value);
}
void Gauge::Add(double by) const {
  if (series_ && series_->metric != nullptr) series_->metric->Increment(by);
}
double Gauge::value() const {
  return series_ && series_->metric != nullptr ? series_->metric->Value() : 0.0;
}

void Histogram::Observe(double value) const {
  if (series_ && series_->metric != nullptr) series_->metric->Observe(value);
}
std::uint64_t Histogram::count() const {
  if (!series_ || series_->metric == nullptr) return 0;
  return series_->metric->Collect().histogram.sample_count;
}

struct Registry::Impl {
  prometheus::Registry registry;
  Table<prometheus::Counter, Counter::Series> counters;
  Table<prometheus::Gauge, Gauge::Series> gauges;
  Table<prometheus::Histogram, Histogram::Series> histograms;
  std::vector<std::function<bool()>> refresh;
  struct Told {
    std::string name;
    std::string help;
    prometheus::MetricType type;
    std::function<bool(const TellSeries& tell)> collect;
  };
  std::vector<Told> told;
  bool exposing = false;
};

Registry::Registry() : impl_(std::make_unique<Impl>()) {}
Registry::~Registry() = default;

namespace {

template <typename Builder>
auto& Family(Builder builder, prometheus::Registry& registry, std::string_view name,
             std::string_view help) {
  return builder.Name(std::string(name)).Help(std::string(help)).Register(registry);
}

// The library throws for names, labels and types that it does not accept: bugs of the caller.
template <typename Make>
auto OrDie(std::string_view name, const Make& make) {
  try {
    return make();
  } catch (const std::exception& e) {
    LOG(FATAL) << "metric " << name << ": " << e.what();
    throw;
  }
}

}  // namespace

Counter Registry::NewCounter(std::string_view name, std::string_view help, const Labels& labels) {
  return OrDie(name, [&] {
    auto& family = Family(prometheus::BuildCounter(), impl_->registry, name, help);
    return Counter(impl_->counters.Get(family, labels));
  });
}

Gauge Registry::NewGauge(std::string_view name, std::string_view help, const Labels& labels) {
  return OrDie(name, [&] {
    auto& family = Family(prometheus::BuildGauge(), impl_->registry, name, help);
    return Gauge(impl_->gauges.Get(family, labels));
  });
}

Histogram Registry::NewHistogram(std::string_view name, std::string_view help,
                                 const Buckets& buckets, const Labels& labels) {
  return OrDie(name, [&] {
    auto& family = Family(prometheus::BuildHistogram(), impl_->registry, name, help);
    return Histogram(impl_->histograms.Get(family, labels, buckets));
  });
}

void Registry::Remove(const Counter& counter) { impl_->counters.Remove(counter.series_.get()); }
void Registry::Remove(const Gauge& gauge) { impl_->gauges.Remove(gauge.series_.get()); }
void Registry::Remove(const Histogram& histogram) {
  impl_->histograms.Remove(histogram.series_.get());
}

void Registry::OnScrape(std::function<void()> refresh) {
  OnScrapeInSteps([refresh = std::move(refresh)] {
    refresh();
    return false;
  });
}

void Registry::OnScrapeInSteps(std::function<bool()> refresh) {
  impl_->refresh.push_back(std::move(refresh));
}

void Registry::NewGauges(std::string_view name, std::string_view help,
                         std::function<bool(const TellSeries& tell)> collect) {
  CHECK(prometheus::CheckMetricName(std::string(name))) << name;
  impl_->told.push_back(
      {std::string(name), std::string(help), prometheus::MetricType::Gauge, std::move(collect)});
}

void Registry::NewCounters(std::string_view name, std::string_view help,
                           std::function<bool(const TellSeries& tell)> collect) {
  CHECK(prometheus::CheckMetricName(std::string(name))) << name;
  impl_->told.push_back(
      {std::string(name), std::string(help), prometheus::MetricType::Counter, std::move(collect)});
}

// The refreshes come first, then the library's series, then the series that are reported at a
// scrape.
class Registry::StepByStep final : public Exposition {
 public:
  explicit StepByStep(Impl& impl) : impl_(impl) { impl_.exposing = true; }
  ~StepByStep() override { impl_.exposing = false; }
  StepByStep(const StepByStep&) = delete;
  StepByStep& operator=(const StepByStep&) = delete;

  bool Step() override {
    if (refreshed_ < impl_.refresh.size()) {
      if (!impl_.refresh[refreshed_]()) ++refreshed_;
      return true;
    }
    if (!std::exchange(kept_, true)) {
      for (const auto& family : impl_.registry.Collect()) Append(family);
      return !impl_.told.empty();
    }
    CHECK_LT(told_, impl_.told.size()) << "a step after the last one";
    if (!Tell(impl_.told[told_])) ++told_;
    return told_ < impl_.told.size();
  }

  [[nodiscard]] std::string Text() const override {
    std::string text;
    for (const auto& [name, family] : texts_) text += family;
    return text;
  }

 private:
  bool Tell(const Impl::Told& told) {
    prometheus::MetricFamily family{told.name, told.help, told.type, {}};
    const bool more = told.collect([&family](auto labels, double value) {
      prometheus::ClientMetric& metric = family.metric.emplace_back();
      for (const auto& [label, text] : labels) {
        metric.label.push_back({std::string(label), std::string(text)});
      }
      metric.gauge.value = metric.counter.value = value;  // the family's type selects one
    });
    Append(family);
    return more;
  }

  // A family that is already in the text is appended without its help and type.
  void Append(const prometheus::MetricFamily& family) {
    std::string text = prometheus::TextSerializer().Serialize({family});
    std::string& all = texts_[family.name];
    all += all.empty() ? text : text.substr(text.find('\n', text.find('\n') + 1) + 1);
  }

  Impl& impl_;
  std::size_t refreshed_ = 0;                 // refreshes done
  bool kept_ = false;                         // the library's series are in the text
  std::size_t told_ = 0;                      // families done of those reported at a scrape
  std::map<std::string, std::string> texts_;  // by family
};

std::unique_ptr<Registry::Exposition> Registry::TryExpose() {
  if (impl_->exposing) return nullptr;
  return std::make_unique<StepByStep>(*impl_);
}

std::string Registry::Expose() {
  const std::unique_ptr<Exposition> exposition = TryExpose();
  CHECK(exposition != nullptr);
  while (exposition->Step()) continue;
  return exposition->Text();
}

Buckets ExponentialBuckets(double first, double factor, int count) {
  Buckets buckets;
  for (double bound = first; count > 0; --count, bound *= factor) buckets.push_back(bound);
  return buckets;
}

}  // namespace metrics
