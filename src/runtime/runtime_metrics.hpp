// The metrics of a runtime, and those of the process that no runtime owns.
#pragma once
#include <hocket/base/metrics.hpp>
#include <hocket/runtime/detail/runtime_options.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The numbers of a runtime.
struct runtime_numbers {
  std::size_t workers;
  std::size_t coroutines;
  runtime_counts counts;
};

class runtime_metrics {
 public:
  // `subject` and the text outlive the object. `read` is called by any thread.
  using reader = runtime_numbers (*)(const void* subject) noexcept;
  runtime_metrics(const void* subject, reader read, const char* name) noexcept;
  void report_metrics(metric_visitor& to) const;

 private:
  const void* const subject_;
  const reader read_;
  const char* const name_;
  metric_source source_;
};

// Lists the metrics of the process's blocking pool and of the memory of frames. Further calls do nothing.
void list_process_metrics() noexcept;

}}}  // namespace hocket::detail
