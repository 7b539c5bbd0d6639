// Which orderings a test does not need: it is explored with each of them weakened by one degree. One degree is enough:
// what is too weak stays too weak when it is weakened further.
#include "search.hpp"

#include <hocket/base/fatal.hpp>

#include <algorithm>

namespace hocket { inline namespace HOCKET_HOST_ABI { namespace model::detail {
namespace {

using order = std::memory_order;

std::vector<order> next_weaker(order from) {
  if (from == order::seq_cst) return {order::acq_rel};
  if (from == order::acq_rel) return {order::acquire, order::release};
  return {order::relaxed};
}

void add_orderings_of(test body, const options& bounds, std::vector<ordering>& known) {
  engine runner(bounds, body);
  runner.note_orderings(&known);
  auto result = search(runner, bounds);
  if (result.found())
    hocket::detail::fatal(result.message.c_str(), "unneeded_orderings() is for a test that shows no bug as it stands");
}

bool needed(const options& bounds, test body, const ordering& from, order to) {
  engine runner(bounds, body);
  runner.weaken(from, to);
  return search(runner, bounds).found();
}

}  // namespace

std::string unneeded_orderings(const options& bounds, std::initializer_list<test> bodies) {
  std::vector<ordering> known;
  for (const test& body : bodies) add_orderings_of(body, bounds, known);
  std::string unnoticed;
  for (const auto& candidate : known) {
    if (std::string_view(candidate.where.file_name()).find(bounds.weakened) == std::string_view::npos) continue;
    for (auto weaker : next_weaker(candidate.order)) {
      const auto notices = [&](const test& body) { return needed(bounds, body, candidate, weaker); };
      if (std::any_of(bodies.begin(), bodies.end(), notices)) continue;
      unnoticed += short_name(candidate.where) + ": " + order_name(candidate.order) + " could be " + order_name(weaker);
      unnoticed += '\n';
    }
  }
  return unnoticed;
}

}}}  // namespace hocket::model::detail
