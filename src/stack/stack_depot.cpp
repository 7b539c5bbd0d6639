#include <hocket/stack/stack_depot.hpp>

#include <hocket/base/clock.hpp>
#include <hocket/base/fatal.hpp>
#include <hocket/base/seam/platform/poison.hpp>

#include "stack/magazine.hpp"
#include "stack/slab.hpp"

#include <algorithm>
#include <new>
#include <system_error>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

namespace {

constexpr std::size_t most_rounds = 256;
constexpr std::size_t most_run = 64;
constexpr std::size_t magazine_bytes = std::size_t{16} << 20;  // of stacks in a full magazine

std::size_t checked_size(std::size_t requested) {
  if (requested == 0)
    throw std::system_error(
        std::make_error_code(std::errc::invalid_argument),
        "hocket: stack_size is 0: give the bytes that the deepest call chain needs (64 KiB is usual)");
  if (requested > stack_depot::maximum_size)
    throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                            "hocket: stack_size is above 1 GiB: is it given in bytes?");
  return stack_depot::minimum_size << stack_depot::class_of(requested);
}

// The sets of a translation buffer are chosen by the low bits of a page's number. With an even number of pages from one
// stack to the next, the tops use half of the sets or fewer; with an odd number they use all of them.
std::size_t odd_pages(std::size_t bytes) noexcept { return (bytes / page_size() | 1) * page_size(); }

detail::stack_geometry geometry_of(const stack_options& options) noexcept {
  using geometry = detail::stack_geometry;
  if (options.layout == stack_layout::dense) {
    const auto colours = static_cast<std::uint32_t>(std::min<std::size_t>(options.stack_size / 8, 2048) / 64);
    return {options.stack_size, 0, colours, geometry::turn_of(1, colours)};
  }
  const std::size_t guard = guard_size();
  if (options.layout == stack_layout::copied) return {options.stack_size + guard, guard, 1, 0, true};
  const std::size_t stride = odd_pages(options.stack_size + page_size() + guard);
  return {stride, guard, 48, geometry::turn_of(5, 48)};
}

std::size_t rounds_of(const stack_options& options) noexcept {
  std::size_t rounds = std::clamp<std::size_t>(magazine_bytes / options.stack_size, 1, most_rounds);
  return options.limit != 0 ? std::min(rounds, options.limit) : rounds;
}

}  // namespace

// --- life

stack_depot::stack_depot(const stack_options& options) : options_(options) {
  options_.stack_size = checked_size(options.stack_size);
  if (options_.layout != stack_layout::dense) options_.stack_size = round_up(options_.stack_size, page_size());
  geometry_ = geometry_of(options_);
  rounds_ = rounds_of(options_);
  run_size_ = std::min(rounds_, most_run);
  set_terms(options_);
  period_ = now();
}

stack_depot::~stack_depot() {
  expects(counts_.in_use == 0 && pool_count_ == 0, "a stack_depot was destroyed while coroutines live on its stacks",
          "destroy the coroutines and the pools first: declare the depot before them");
  while (stack_slab* slab = oldest_) {
    oldest_ = slab->newer;
    stack_slab::destroy(slab);
  }
  if (filling_) push(empty_, filling_);
  while (full_) push(empty_, pop(full_));
  while (empty_) magazine::free(pop(empty_));
}

std::size_t stack_depot::class_of(std::size_t stack_size) noexcept {
  const std::size_t units = (stack_size + minimum_size - 1) / minimum_size;
  return units <= 1 ? 0 : static_cast<std::size_t>(std::bit_width(units - 1));
}

constinit primitive::atomic<std::uint64_t> stack_depot::options_version_{0};

void stack_depot::set_terms(const stack_options& options) noexcept {
  // ORDER: relaxed, pairs with the load in options_version(): a hint.
  options_version_.fetch_add(1, std::memory_order_relaxed);
  options_.limit = options.limit;
  options_.limit_bytes = options.limit_bytes;
  options_.protection = options.protection;
  options_.when_full = options.when_full;
  options_.keep = options.keep;
  options_.keep_bytes = options.keep_bytes;
  options_.decay = options.decay;
  options_.clock = options.clock;
  options_.source = options.source;
  limit_ = options.limit != 0 ? options.limit : unlimited;
  if (options.limit_bytes != 0) limit_ = std::min(limit_, options.limit_bytes / options_.stack_size);
  // ORDER: relaxed, pairs with the loads in now(), decay() and may_wait(): each is used by itself.
  clock_.store(options.clock ? options.clock : &steady_clock(), std::memory_order_relaxed);
  // ORDER: relaxed, as above.
  decay_.store(options.decay.count(), std::memory_order_relaxed);
  // ORDER: relaxed, as above.
  may_wait_.store(options.when_full == at_limit::wait, std::memory_order_relaxed);
}

stack_options stack_depot::options() const noexcept {
  locked guard(mutex_);
  return options_;
}

void stack_depot::tune(const stack_options& options) noexcept {
  stack_waiter* served = nullptr;
  {
    locked guard(mutex_);
    set_terms(options);
    period_ = now();
    served = serve();
    renew_crowded();
  }
  wake(served);
}

time_point stack_depot::now() const noexcept {
  // ORDER: relaxed, pairs with the store in set_terms(): a clock is constructed before it is set.
  return clock_.load(std::memory_order_relaxed)->now();
}

duration stack_depot::decay() const noexcept {
  // ORDER: relaxed, pairs with the store in set_terms().
  return duration(decay_.load(std::memory_order_relaxed));
}

bool stack_depot::uses_clock(const clock_source& clock) const noexcept {
  // ORDER: relaxed, pairs with the store in set_terms(): an address that is compared.
  return clock_.load(std::memory_order_relaxed) == &clock;
}

bool stack_depot::may_wait() const noexcept {
  // ORDER: relaxed, pairs with the store in set_terms().
  return may_wait_.load(std::memory_order_relaxed);
}

stack_depot& stack_depot::depot_of(void* cell) noexcept { return stack_slab::slab_of(cell).depot(); }
stack_ref stack_depot::stack_of(void* cell) noexcept { return stack_slab::slab_of(cell).stack_of(cell); }
bool stack_depot::is_of_source(void* cell) noexcept { return stack_slab::slab_of(cell).source() != nullptr; }
void*& stack_depot::resident_of(void* cell) noexcept { return stack_slab::slab_of(cell).resident; }
void* stack_depot::neighbour_of(void* cell, std::ptrdiff_t distance) noexcept {
  return stack_slab::slab_of(cell).neighbour_of(cell, distance);
}

std::byte* stack_depot::top_of(void* cell) noexcept { return stack_slab::slab_of(cell).top_of(cell); }

// --- the shared depots of the process

namespace {

constinit atomic<stack_depot*> shared_depots[stack_depot::classes]{};

}  // namespace

stack_depot* stack_depot::shared_if_any(std::size_t size_class) noexcept {
  // ORDER: acquire, pairs with the store in shared(): the depot is constructed.
  return shared_depots[size_class].load(std::memory_order_acquire);
}

stack_depot& stack_depot::shared(std::size_t stack_size) {
  static constinit thread_mutex making;
  const std::size_t size = checked_size(stack_size == 0 ? stack_options{}.stack_size : stack_size);
  const std::size_t size_class = class_of(size);
  if (stack_depot* known = shared_if_any(size_class)) return *known;
  locked guard(making);
  if (stack_depot* known = shared_if_any(size_class)) return *known;
  auto* created = new stack_depot({.stack_size = size});
  // ORDER: release, pairs with the load in shared_if_any().
  shared_depots[size_class].store(created, std::memory_order_release);
  return *created;
}

}}  // namespace hocket
