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

// A body, and the orderings of all operations in its executions. A body without an ordering cannot notice that it is
// weakened.
struct subject {
  test body;
  std::vector<ordering> orderings;

  bool has(const ordering& candidate) const {
    const auto is_same = [&](const ordering& known) { return known.is(candidate.where, candidate.order); };
    return std::any_of(orderings.begin(), orderings.end(), is_same);
  }
};

subject explored(test body, const options& bounds) {
  std::vector<ordering> known;
  engine runner(bounds, body);
  runner.record_orderings(&known);
  const report result = search(runner, bounds);
  if (result.found())
    hocket::detail::fatal(result.message.c_str(), "unneeded_orderings() is for a test that shows no bug as it stands");
  return {body, std::move(known)};
}

std::vector<subject> all_explored(std::initializer_list<test> bodies, const options& bounds) {
  std::vector<subject> subjects;
  for (const test& body : bodies) subjects.push_back(explored(body, bounds));
  return subjects;
}

std::vector<ordering> all_orderings(const std::vector<subject>& subjects) {
  std::vector<ordering> all;
  for (const subject& each : subjects)
    for (const ordering& known : each.orderings)
      if (std::none_of(all.begin(), all.end(),
                       [&](const ordering& other) { return other.is(known.where, known.order); }))
        all.push_back(known);
  return all;
}

bool needed(const options& bounds, test body, const ordering& from, order to) {
  engine runner(bounds, body);
  runner.weaken(from, to);
  return search(runner, bounds).found();
}

}  // namespace

std::string unneeded_orderings(const options& bounds, std::initializer_list<test> bodies) {
  const std::vector<subject> subjects = all_explored(bodies, bounds);
  std::string unnoticed;
  for (const ordering& candidate : all_orderings(subjects)) {
    if (std::string_view(candidate.where.file_name()).find(bounds.weakened) == std::string_view::npos) continue;
    for (auto weaker : next_weaker(candidate.order)) {
      const auto notices = [&](const subject& by) {
        return by.has(candidate) && needed(bounds, by.body, candidate, weaker);
      };
      if (std::any_of(subjects.begin(), subjects.end(), notices)) continue;
      unnoticed += short_name(candidate.where) + ": " + order_name(candidate.order) + " could be " + order_name(weaker);
      unnoticed += '\n';
    }
  }
  return unnoticed;
}

}}}  // namespace hocket::model::detail
