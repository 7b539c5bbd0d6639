// A driver: the thread of a loop sleeps at a box, into which other threads throw numbers. One coroutine takes each.
#include <hocket/core/thread/seam/driver.hpp>
#include <hocket/hocket.hpp>
#include <hocket/primitive.hpp>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

namespace {

namespace primitive = hocket::primitive;

// Who throws a number in need not know which driver there is.
struct box {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<int> numbers;
  bool is_woken = false;

  void throw_in(int number) {
    const std::lock_guard guard(mutex);
    numbers.push_back(number);
    changed.notify_all();
  }
};

class box_driver final : public hocket::detail::driver, public primitive::wait_source {
 public:
  explicit box_driver(box& from) noexcept : driver(1), box_(from) {}

  // --- the sleep of the owner
  bool park(hocket::time_point until) noexcept override {
    std::unique_lock guard(box_.mutex);
    const auto ends = [this] { return box_.is_woken || (waits_ && !box_.numbers.empty()); };
    if (until == hocket::time_point::max()) box_.changed.wait(guard, ends);
    else box_.changed.wait_until(guard, until, ends);
    return std::exchange(box_.is_woken, false);
  }
  void await_wake() noexcept override {
    std::unique_lock guard(box_.mutex);
    box_.changed.wait(guard, [this] { return box_.is_woken; });
    box_.is_woken = false;
  }
  void wake() noexcept override {
    const std::lock_guard guard(box_.mutex);
    box_.is_woken = true;
    box_.changed.notify_all();
  }

  // --- what it grants
  void poll() noexcept override {
    primitive::grant granted;
    {
      const std::lock_guard guard(box_.mutex);
      if (waits_ && !box_.numbers.empty()) granted = waits_->claim();
      if (granted) {
        *static_cast<int*>(waits_->resource) = box_.numbers.front();
        box_.numbers.pop_front();
        waits_ = nullptr;
      }
    }
    granted.post();
  }
  std::size_t waiting() const noexcept override { return waits_ ? 1 : 0; }

  // --- the wait
  void begin(primitive::suspension& wait, primitive::waiter& entry, int& number) noexcept {
    const std::lock_guard guard(box_.mutex);
    entry.enlist(wait, *this);
    entry.resource = &number;
    waits_ = &entry;
  }
  const char* what() const noexcept override { return "a number from the box"; }
  bool detach(primitive::waiter& entry) noexcept override {
    const std::lock_guard guard(box_.mutex);
    if (waits_ != &entry) return false;
    waits_ = nullptr;
    return true;
  }
  void pass_on(primitive::waiter& entry) noexcept override { box_.throw_in(*static_cast<int*>(entry.resource)); }

 private:
  box& box_;
  primitive::waiter* waits_ = nullptr;  // guarded by the mutex
};

class box_drivers final : public hocket::detail::driver_kind_of<box_driver> {
 public:
  explicit box_drivers(box& from) noexcept : driver_kind_of("box"), box_(from) {}

 private:
  hocket::result<std::unique_ptr<box_driver>> make_driver(const hocket::detail::driver_owner&) noexcept override {
    return std::make_unique<box_driver>(box_);
  }
  box& box_;
};

struct number_operation {
  using value_type = int;
  box_drivers* kind;
  int number = 0;
  int failed = 0;

  bool try_now() noexcept { return false; }
  void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    hocket::detail::driver_here(*kind).value()->begin(wait, entry, number);
  }
  hocket::result<int> take() noexcept { return number; }
};

}  // namespace

int main() {
  box numbers;
  box_drivers drivers(numbers);
  std::thread other([&] {
    for (int i = 1; i <= 3; ++i) {
      std::this_thread::yield();
      numbers.throw_in(i);
    }
  });
  int sum = 0;
  bool is_late = false;
  hocket::loop lp;
  hocket::spawn(lp, [&]() -> hocket::task<> {
    const auto next = [&] { return primitive::operation<number_operation>(std::in_place, {}, &drivers); };
    for (int i = 0; i < 3; ++i) sum += (co_await next()).value();
    const auto none = co_await hocket::within(std::chrono::milliseconds(1), next());
    is_late = !none && none.error() == std::errc::timed_out;
  });
  lp.run();
  other.join();
  return sum == 6 && is_late ? 0 : 1;
}
