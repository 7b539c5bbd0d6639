#include <hocket/base/clock.hpp>

#include <hocket/base/fatal.hpp>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

namespace {

class machine_clock final : public clock_source {
 public:
  constexpr machine_clock() noexcept = default;
  time_point now() const noexcept override {
    return std::chrono::time_point_cast<duration>(std::chrono::steady_clock::now());
  }
  bool is_free_running() const noexcept override { return true; }
};

// Neither constructed nor destroyed at run time: usable before and after main.
constinit const machine_clock machine{};

}  // namespace

const clock_source& steady_clock() noexcept { return machine; }

time_point manual_clock::now() const noexcept {
  // ORDER: acquire, pairs with the compare-exchange in set(): a reader of the new time sees all writes before it.
  return time_point{duration{now_.load(std::memory_order_acquire)}};
}

void manual_clock::advance(duration step) noexcept {
  expects(step >= duration::zero(), "manual_clock::advance by a negative duration",
          "a clock never goes back: make a new manual_clock instead");
  // ORDER: relaxed, the compare-exchange below decides.
  auto current = now_.load(std::memory_order_relaxed);
  // ORDER: acq_rel, pairs with the load in now(); relaxed on failure, it is only tried again.
  while (!now_.compare_exchange_weak(current,
                                     deadline_after(time_point{duration{current}}, step).time_since_epoch().count(),
                                     std::memory_order_acq_rel, std::memory_order_relaxed)) {
  }
}

void manual_clock::set(time_point time) noexcept {
  const std::int64_t nanoseconds = time.time_since_epoch().count();
  // ORDER: relaxed, the compare-exchange below decides.
  auto current = now_.load(std::memory_order_relaxed);
  do {
    expects(nanoseconds >= current, "manual_clock::set to an earlier time",
            "a clock never goes back: make a new manual_clock instead");
    // ORDER: acq_rel, pairs with the load in now(); relaxed on failure, it is only tried again.
  } while (!now_.compare_exchange_weak(current, nanoseconds, std::memory_order_acq_rel, std::memory_order_relaxed));
}

}}  // namespace hocket
