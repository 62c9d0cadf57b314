#pragma once

// The program's metrics and their text form. Only this folder includes prometheus-cpp.
//
// A handle is a small value. Copies name the same series; once the series is removed, they do
// nothing. The same name and labels give the same series. A name that Prometheus does not allow, or
// one name with two types, is a bug and ends the process.
//
// Single-threaded. Handles may outlive the registry.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace metrics {

using Labels = std::map<std::string, std::string>;
using Buckets = std::vector<double>;  // upper bounds, ascending, without +Inf

class Registry;

class Counter {
 public:
  Counter() = default;
  void Increment(double by = 1.0) const;
  [[nodiscard]] double value() const;  // 0 once removed
  struct Series;

 private:
  friend class Registry;
  explicit Counter(std::shared_ptr<Series> series) : series_(std::move(series)) {}
  std::shared_ptr<Series> series_;
};

class Gauge {
 public:
  Gauge() = default;
  void Set(double value) const;
  void Add(double by) const;
  [[nodiscard]] double value() const;
  struct Series;

 private:
  friend class Registry;
  explicit Gauge(std::shared_ptr<Series> series) : series_(std::move(series)) {}
  std::shared_ptr<Series> series_;
};

class Histogram {
 public:
  Histogram() = default;
  void Observe(double value) const;
  [[nodiscard]] std::uint64_t count() const;
  struct Series;

 private:
  friend class Registry;
  explicit Histogram(std::shared_ptr<Series> series) : series_(std::move(series)) {}
  std::shared_ptr<Series> series_;
};

class Registry {
 public:
  Registry();
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // Each starts at zero and is exported at once.
  Counter NewCounter(std::string_view name, std::string_view help, const Labels& labels = {});
  Gauge NewGauge(std::string_view name, std::string_view help, const Labels& labels = {});
  Histogram NewHistogram(std::string_view name, std::string_view help, const Buckets& buckets,
                         const Labels& labels = {});

  // Stops exporting the series; its handles do nothing from now on.
  void Remove(const Counter& counter);
  void Remove(const Gauge& gauge);
  void Remove(const Histogram& histogram);

  // Called at each scrape, for values that are read instead of counted.
  void OnScrape(std::function<void()> refresh);
  // The same for slow refreshes: called once in each step of the scrape, until it returns false.
  void OnScrapeInSteps(std::function<bool()> refresh);

  // A family of gauges whose series are reported at each scrape, after the refreshes, and stored
  // nowhere: for series that come and go by the thousand. Labels keep the order in which they are
  // reported. `collect` reports some series, and returns true until there are no more.
  using TellSeries = std::function<void(
      std::initializer_list<std::pair<std::string_view, std::string_view>> labels, double value)>;
  void NewGauges(std::string_view name, std::string_view help,
                 std::function<bool(const TellSeries& tell)> collect);

  // The same for counters.
  void NewCounters(std::string_view name, std::string_view help,
                   std::function<bool(const TellSeries& tell)> collect);

  // One scrape. The text is built in steps, so that the caller can yield the event loop in between.
  class Exposition {
   public:
    virtual ~Exposition() = default;
    // Returns false after the last step.
    virtual bool Step() = 0;
    // Every series in Prometheus' text format, ordered by name. Content type: kTextFormat.
    [[nodiscard]] virtual std::string Text() const = 0;
  };
  // Null while there is another one. The registry must outlive it. It may be destroyed after any
  // step.
  std::unique_ptr<Exposition> TryExpose();
  // Runs all steps. REQUIRES: there is no other exposition.
  std::string Expose();

 private:
  class StepByStep;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

inline constexpr std::string_view kTextFormat = "text/plain; version=0.0.4; charset=utf-8";

// Powers of ten: the bounds of workqueue_* (1e-8 … 10).
Buckets ExponentialBuckets(double first, double factor, int count);

}  // namespace metrics
