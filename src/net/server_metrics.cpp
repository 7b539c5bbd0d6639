#include <hocket/net/detail/server_core.hpp>

#include <string>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace { namespace figures {

constexpr auto counter = metric_kind::counter;
constexpr auto gauge = metric_kind::gauge;

constexpr metric open_connections{"hocket_server_connections", "Open connections, also lingering ones.", gauge};

struct counted_field {
  metric description;
  std::size_t tcp::server_counts::* field;
};
constexpr counted_field counted_fields[] = {
    {{"hocket_server_accepted_total", "Connections whose handler was called.", counter}, &tcp::server_counts::accepted},
    {{"hocket_server_completed_total", "Connections whose handler returned.", counter}, &tcp::server_counts::completed},
    {{"hocket_server_failed_total", "Connections whose handler failed.", counter}, &tcp::server_counts::failed},
    {{"hocket_server_cancelled_total", "Connections whose handler was cancelled or killed.", counter},
     &tcp::server_counts::cancelled},
    {{"hocket_server_refused_total", "Connections that were closed without a handler.", counter},
     &tcp::server_counts::refused},
};

}  // namespace figures

}  // namespace

void server_core::report_metrics(metric_visitor& to) const {
  const char* const name = options_.name.c_str();
  const std::string address = address_.to_string();
  const metric_label server_label{"server", name ? name : ""};
  const metric_label address_label{"address", address};
  to.add_count(figures::open_connections, {server_label, address_label}, connections());
  const tcp::server_counts numbers = counts();
  for (const figures::counted_field& current : figures::counted_fields)
    to.add_count(current.description, {server_label, address_label}, numbers.*current.field);
}

}}}  // namespace hocket::detail
