// Metrics: the counters and gauges of a process, from all its parts, through one list of sources.
//
//   class mail_queue {
//    public:
//     void report_metrics(metric_visitor& to) const {
//       static constexpr metric waiting{"mail_waiting", "Mails that wait to be sent.", metric_kind::gauge};
//       to.add(waiting, {{"queue", name_}}, static_cast<double>(size()));
//     }
//    private:
//     ...
//     metric_source metrics_{*this};                  // the last member
//   };
//
// Sources of hocket: each runtime, the process's blocking pool and frame memory, each server, each connection_pool,
// and the stacks of fibers. http::metrics shows all of them, as text for Prometheus (http/metrics.hpp).
//
// A source is in the list from its construction to its destruction. A report is made under the lock of the list. So
// during a report the source exists, and its object must exist, too. Declare the source as the last member of the
// object: members are destroyed in reverse order, so the source leaves the list first. A report must not construct or
// destroy a source, and must not wait.
//
// If there is no memory for the entry of a source, the source is not listed. A forked child begins with an empty list.
//
// Equal names. Two sources may report a metric with the same labels, for instance two servers with the same name. A
// visitor receives both values. The page of http::metrics adds them, and of a maximum it shows the greater one.
//
// Thread safety. Any thread. report_metrics() is called by any thread, one call at a time in the process.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <hocket/base/seam/platform/owns_nothing.hpp>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

enum class metric_kind : std::uint8_t {
  counter,  // only grows, until the process ends
  gauge,    // the value at one moment
  maximum,  // the greatest value so far; shown as a gauge
};

// A metric with its constant texts, a static object. A name consists of letters, digits and underscores; the name of a
// counter ends with _total. A unit is part of the name: _seconds, _bytes.
struct metric {
  const char* name;
  const char* help;
  metric_kind kind;
};
static_assert(detail::owns_nothing<metric>);

// A label distinguishes the values of a metric. Its name consists of letters, digits and underscores. Its value is any
// UTF-8 text.
struct metric_label {
  std::string_view name;
  std::string_view value;
};
static_assert(detail::owns_nothing<metric_label>);

// The receiver of the values of a report.
class metric_visitor {
 public:
  // Receives one value. `description` outlives the visitor. The labels are valid during the call.
  virtual void add(const metric& description, std::initializer_list<metric_label> labels, double value) = 0;
  // Receives a count as a value.
  void add_count(const metric& description, std::initializer_list<metric_label> labels, std::uint64_t count) {
    add(description, labels, static_cast<double>(count));
  }

 protected:
  ~metric_visitor() = default;
};

namespace detail {

struct metric_entry;
using metric_report = void (*)(const void* object, metric_visitor& to);
// Adds an entry. Null: out of memory.
metric_entry* list_metrics(const void* object, metric_report report) noexcept;
void unlist_metrics(metric_entry* entry) noexcept;

}  // namespace detail

// The membership of an object in the list. Move-only; the object stays where it is.
class metric_source {
 public:
  metric_source() noexcept = default;  // not in the list
  // `object.report_metrics(metric_visitor&)` may throw: then collect_metrics() throws.
  template <class T>
  explicit metric_source(const T& object) noexcept
      : entry_(detail::list_metrics(
            &object, [](const void* from, metric_visitor& to) { static_cast<const T*>(from)->report_metrics(to); })) {}
  metric_source(metric_source&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}
  metric_source& operator=(metric_source&& other) noexcept {
    metric_source old(std::move(*this));
    entry_ = std::exchange(other.entry_, nullptr);
    return *this;
  }
  ~metric_source() {
    if (entry_) detail::unlist_metrics(entry_);
  }

 private:
  detail::metric_entry* entry_ = nullptr;
};

// Calls the reports of all sources, in the order of construction of the sources. Throws the exceptions of the reports
// and of the visitor.
void collect_metrics(metric_visitor& to);

}}  // namespace hocket
