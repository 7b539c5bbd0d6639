// The metrics of a runtime, and those of the process that no runtime owns.
#pragma once
#include <hocket/base/metrics.hpp>

namespace hocket { inline namespace HOCKET_ABI {

class runtime;

namespace detail {

class runtime_metrics {
 public:
  // Both outlive the object.
  runtime_metrics(const runtime& subject, const char* name) noexcept;
  void report_metrics(metric_visitor& to) const;

 private:
  const runtime& subject_;
  const char* const name_;
  metric_source source_;
};

// Lists the metrics of the process's blocking pool and of the memory of frames. Further calls do nothing.
void list_process_metrics() noexcept;

}  // namespace detail

}}  // namespace hocket
