#include <hocket/base/metrics.hpp>
#include <hocket/base/seam/per_process.hpp>
#include <hocket/stack/stack_depot.hpp>

#include "fiber/depot_metrics.hpp"

#include <array>
#include <charconv>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

namespace figures {

constexpr auto counter = metric_kind::counter;
constexpr auto gauge = metric_kind::gauge;

struct counted_field {
  metric description;
  std::size_t depot_statistics::* field;
};
constexpr counted_field counted_fields[] = {
    {{"hocket_stacks_in_use", "Stacks of fibers, also free ones that a thread keeps.", gauge},
     &depot_statistics::in_use},
    {{"hocket_stacks_warm", "Free stacks with their pages.", gauge}, &depot_statistics::warm},
    {{"hocket_stacks_cold", "Free stacks without pages.", gauge}, &depot_statistics::cold},
    {{"hocket_stacks_reserved_bytes", "Address space of the stacks.", gauge}, &depot_statistics::reserved},
    {{"hocket_stacks_committed_bytes", "Memory of the stacks, estimated from a sample.", gauge},
     &depot_statistics::committed},
    {{"hocket_stacks_waiters", "Spawns that wait for a stack.", gauge}, &depot_statistics::waiting},
    {{"hocket_stacks_refusals_total", "Stacks that were refused for the limit or for memory.", counter},
     &depot_statistics::refusals},
};

}  // namespace figures

struct depot_metrics {
  void report_metrics(metric_visitor& to) const {
    for (std::size_t size_class = 0; size_class < stack_depot::classes; ++size_class)
      if (const stack_depot* depot = stack_depot::shared_if_any(size_class)) report(*depot, to);
  }
  static void report(const stack_depot& depot, metric_visitor& to) {
    std::array<char, 20> digits;
    const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), depot.stack_size()).ptr;
    const metric_label label{"size", {digits.data(), static_cast<std::size_t>(end - digits.data())}};
    const depot_statistics numbers = depot.statistics();
    for (const figures::counted_field& current : figures::counted_fields)
      to.add_count(current.description, {label}, numbers.*current.field);
  }

  metric_source source{*this};
};

constinit per_process<depot_metrics> metrics_of_process;

}  // namespace

void list_depot_metrics() noexcept { static_cast<void>(metrics_of_process.get()); }

}}}  // namespace hocket::detail
