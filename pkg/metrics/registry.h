#pragma once

// The program's metrics and their text form, over prometheus-cpp, which only this folder includes.
//
// A handle is a small value: copies name the same series, and outlive the series harmlessly (once
// it is removed they do nothing). Asking for the same name and labels again gives the same series.
// A name that Prometheus does not allow, or one name with two types, is a bug and ends the process.
//
// Single-threaded; the registry outlives nobody's handles, handles may outlive it.

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

  // Each starts at zero and is exported from now on.
  Counter NewCounter(std::string_view name, std::string_view help, const Labels& labels = {});
  Gauge NewGauge(std::string_view name, std::string_view help, const Labels& labels = {});
  Histogram NewHistogram(std::string_view name, std::string_view help, const Buckets& buckets,
                         const Labels& labels = {});

  // The series is no longer exported, and every handle of it does nothing.
  void Remove(const Counter& counter);
  void Remove(const Gauge& gauge);
  void Remove(const Histogram& histogram);

  // Called at each scrape, for values that are read rather than counted.
  void OnScrape(std::function<void()> refresh);
  // The same for what takes long: called, in steps of the scrape, until it returns false.
  void OnScrapeInSteps(std::function<bool()> refresh);

  // A family of gauges whose series are told at each scrape, after the refreshes, and kept
  // nowhere: for what comes and goes by the thousand. Labels keep the order in which they are told.
  // `collect` tells some and returns true until there are no more.
  using TellSeries = std::function<void(
      std::initializer_list<std::pair<std::string_view, std::string_view>> labels, double value)>;
  void NewGauges(std::string_view name, std::string_view help,
                 std::function<bool(const TellSeries& tell)> collect);

  // One scrape: the text is made in steps, so that whoever has a loop can give it away in between.
  class Exposition {
   public:
    virtual ~Exposition() = default;
    // False: that was the last step.
    virtual bool Step() = 0;
    // Every series in Prometheus' text format, names in order. Content type: kTextFormat.
    [[nodiscard]] virtual std::string Text() const = 0;
  };
  // Null while there is another one. The registry outlives it; it may be dropped after any step.
  std::unique_ptr<Exposition> TryExpose();
  // All steps at once. REQUIRES: there is no other exposition.
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
