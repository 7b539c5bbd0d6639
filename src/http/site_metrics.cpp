#include "http/site_metrics.hpp"

#include <array>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI { namespace http::detail {

namespace { namespace figures {

constexpr metric answers{"hocket_http_answers_total", "Answers by the class of their status.", metric_kind::counter};
constexpr metric bytes_in{"hocket_http_body_bytes_total", "Bytes of bodies that were read.", metric_kind::counter};
constexpr metric bytes_out{"hocket_http_answer_bytes_total", "Bytes of answers, heads included.", metric_kind::counter};

constexpr std::array<std::string_view, 6> classes{"", "1xx", "2xx", "3xx", "4xx", "5xx"};

}  // namespace figures

}  // namespace

site_metrics::site_metrics(const void* subject, reader read, const char* name) noexcept
    : subject_(subject), read_(read), name_(name ? name : ""), source_(*this) {}

void site_metrics::report_metrics(metric_visitor& to) const {
  const metric_label server{"server", name_};
  const request_counts counts = read_(subject_);
  for (std::size_t i = 1; i < figures::classes.size(); ++i)
    to.add_count(figures::answers, {server, {"class", figures::classes[i]}}, counts.answers[i]);
  to.add_count(figures::bytes_in, {server}, counts.bytes_in);
  to.add_count(figures::bytes_out, {server}, counts.bytes_out);
}

}}}  // namespace hocket::http::detail
