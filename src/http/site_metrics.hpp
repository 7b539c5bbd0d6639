// The metrics of an HTTP server, beside those of its connections (src/net/server_metrics.cpp).
#pragma once
#include <hocket/base/metrics.hpp>
#include <hocket/http/serve_options.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace http::detail {

class site_metrics {
 public:
  // `subject` and the text outlive the object. `read` is called by any thread.
  using reader = request_counts (*)(const void* subject) noexcept;
  site_metrics(const void* subject, reader read, const char* name) noexcept;
  void report_metrics(metric_visitor& to) const;

 private:
  const void* const subject_;
  const reader read_;
  const char* const name_;
  metric_source source_;
};

}}}  // namespace hocket::http::detail
