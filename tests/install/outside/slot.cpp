// A slot with hooks: how long each coroutine was away from its thread, in waits.
#include <hocket/core/wait/seam/coroutine_slot.hpp>
#include <hocket/hocket.hpp>

#include <chrono>

namespace {

using namespace std::chrono_literals;
using hocket::detail::coroutine_slot;

class absence : public coroutine_slot {
 public:
  static const hocket::detail::slot_kind kind;

  absence() : coroutine_slot(kind) {}
  hocket::duration total{};
  int waits = 0;

  // Of the running coroutine; null: it has none.
  static const absence* current() noexcept {
    return static_cast<const absence*>(hocket::detail::current_coroutine_slot(kind));
  }

 private:
  void leave_thread() noexcept { away_since_ = hocket::steady_clock().now(); }
  void enter_thread() noexcept {
    total += hocket::steady_clock().now() - away_since_;
    ++waits;
  }
  hocket::time_point away_since_{};
};

const hocket::detail::slot_kind absence::kind{
    .name = "absence",
    .on_suspend = [](coroutine_slot& slot) noexcept { static_cast<absence&>(slot).leave_thread(); },
    .on_resume = [](coroutine_slot& slot) noexcept { static_cast<absence&>(slot).enter_thread(); }};

bool was_away(int waits, hocket::duration least) {
  const absence* const own = absence::current();
  return own && own->waits == waits && own->total >= least;
}

}  // namespace

int main() {
  bool fiber = false, task = false, none = true;
  hocket::loop lp;
  hocket::spawn(lp, [&] {
    const absence own;
    hocket::await(hocket::sleep_for(10ms));
    hocket::await(hocket::yield());
    fiber = was_away(1, 10ms);
  });
  hocket::spawn(lp, [&]() -> hocket::task<> {
    const absence own;
    co_await hocket::sleep_for(10ms);
    co_await hocket::sleep_for(10ms);
    task = was_away(2, 20ms);
  });
  hocket::spawn(lp, [&] { none = absence::current() != nullptr; });
  lp.run();
  return fiber && task && !none ? 0 : 1;
}
