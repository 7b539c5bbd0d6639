#include <hocket/pool/detail/connection_pool_core.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace { namespace figures {

constexpr auto counter = metric_kind::counter;
constexpr auto gauge = metric_kind::gauge;

constexpr metric idle{"hocket_pool_idle_connections", "Connections that can be lent.", gauge};
constexpr metric lent{"hocket_pool_lent_connections", "Connections that are lent.", gauge};
constexpr metric connecting{"hocket_pool_connecting", "Connects under way.", gauge};
constexpr metric returning{"hocket_pool_returning", "Connections in a drain, a ping or the hook on recycle.", gauge};
constexpr metric waiters{"hocket_pool_waiters", "Coroutines that wait for a connection.", gauge};

struct counted_field {
  metric description;
  std::uint64_t connection_pool_statistics::* field;
};
constexpr counted_field counted_fields[] = {
    {{"hocket_pool_connects_total", "Connections that were made.", counter}, &connection_pool_statistics::connects},
    {{"hocket_pool_failed_connects_total", "Connects that failed.", counter},
     &connection_pool_statistics::failed_connects},
    {{"hocket_pool_drained_total", "Connections in doubt that became idle again.", counter},
     &connection_pool_statistics::drained},
    {{"hocket_pool_dropped_total", "Connections in doubt that were closed.", counter},
     &connection_pool_statistics::dropped},
    {{"hocket_pool_dead_total", "Idle connections that the server had closed.", counter},
     &connection_pool_statistics::dead},
    {{"hocket_pool_expired_total", "Connections that were closed for their age.", counter},
     &connection_pool_statistics::expired},
};

}  // namespace figures

}  // namespace

void connection_pool_core::report_metrics(metric_visitor& to) const {
  const char* const name = options_.name.c_str();
  const metric_label label{"pool", name ? name : ""};
  const connection_pool_statistics numbers = statistics();
  to.add_count(figures::idle, {label}, numbers.idle);
  to.add_count(figures::lent, {label}, numbers.lent);
  to.add_count(figures::connecting, {label}, numbers.connecting);
  to.add_count(figures::returning, {label}, numbers.returning);
  to.add_count(figures::waiters, {label}, numbers.waiters);
  for (const figures::counted_field& current : figures::counted_fields)
    to.add_count(current.description, {label}, numbers.*current.field);
}

}}}  // namespace hocket::detail
