#include <hocket/base/detail/mutex.hpp>
#include <hocket/io/signal_set.hpp>

#include <hocket/base/detail/platform/raw_calls.hpp>
#include <hocket/runtime/detail/signal_count.hpp>

#include <bit>
#include <cerrno>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

namespace detail {

// What the handler knows of a set. Ears are never destroyed, but used again: a handler may be at one on any thread, at
// any time. So an ear keeps its eventfd, and a set waits at a copy of the fd.
//
// A signal sets its bit, and adds one to the eventfd if the bit was clear. A wait that takes one from the eventfd
// clears one bit. So the eventfd counts the bits.
struct signal_ear {
  primitive::atomic<std::uint64_t> wanted{0};  // bit n - 1 is signal n
  primitive::atomic<std::uint64_t> come{0};
  const int bell;
  bool used = true;  // guarded by ears_mutex
  signal_ear* const next;

  signal_ear(int fd, signal_ear* after) noexcept : bell(fd), next(after) {}
};

namespace {

constinit primitive::thread_mutex ears_mutex;
constinit primitive::atomic<signal_ear*> ears{nullptr};  // grows at the front

std::uint64_t bit_of(int signal) noexcept { return std::uint64_t{1} << (signal - 1); }

void ring(const signal_ear& one) noexcept {
  constexpr std::uint64_t once = 1;
  static_cast<void>(!raw_calls::write(one.bell, &once, sizeof once));
}

// In the handler.
void tell_ears(int signal) noexcept {
  // ORDER: acquire, pairs with the store in new_ear().
  for (signal_ear* one = ears.load(std::memory_order_acquire); one; one = one->next) {
    // ORDER: seq_cst, forbids that it comes before the handler has counted itself, against stop_hearing(). A signal
    // that comes while a set begins is heard or not.
    if ((one->wanted.load(std::memory_order_seq_cst) & bit_of(signal)) == 0) continue;
    // ORDER: release, pairs with the fetch_and in take_lowest(): what was before the signal.
    if ((one->come.fetch_or(bit_of(signal), std::memory_order_release) & bit_of(signal)) == 0) ring(*one);
  }
}

[[noreturn]] void fail(int error, const char* what) { throw std::system_error(error, std::system_category(), what); }

// Under the mutex.
signal_ear& new_ear() {
  const int bell = ::eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK | EFD_CLOEXEC);
  if (bell < 0) fail(errno, "eventfd");
  // ORDER: relaxed, pairs with nothing: guarded by the mutex.
  auto* const fresh = new (std::nothrow) signal_ear(bell, ears.load(std::memory_order_relaxed));
  if (!fresh) ::close(bell), throw std::bad_alloc();
  // ORDER: release, pairs with the load in tell_ears(): the ear is whole.
  ears.store(fresh, std::memory_order_release);
  listen_to_signals(&tell_ears);
  return *fresh;
}

signal_ear& free_ear() {
  const primitive::locked guard(ears_mutex);
  // ORDER: relaxed, pairs with nothing: guarded by the mutex.
  for (signal_ear* one = ears.load(std::memory_order_relaxed); one; one = one->next) {
    if (!std::exchange(one->used, true)) return *one;
  }
  return new_ear();
}

// When a signal is left, no handler is at the ear any more.
void stop_hearing(signal_ear& one) noexcept {
  // ORDER: seq_cst, forbids that leave_signal() looks for handlers before it, against tell_ears().
  std::uint64_t heard = one.wanted.exchange(0, std::memory_order_seq_cst);
  for (int signal = 1; heard != 0; ++signal, heard >>= 1) {
    if (heard & 1) leave_signal(signal);
  }
  std::uint64_t rung = 0;
  while (raw_calls::read(one.bell, &rung, sizeof rung) == sizeof rung) {
  }
  // ORDER: relaxed, pairs with nothing: as above.
  one.come.store(0, std::memory_order_relaxed);
  const primitive::locked guard(ears_mutex);
  one.used = false;
}

signal_ear* hear(std::initializer_list<int> signals) {
  signal_ear& one = free_ear();
  try {
    for (const int signal : signals) {
      use_signal(signal);
      // ORDER: relaxed, pairs with nothing: see tell_ears().
      if (one.wanted.fetch_or(bit_of(signal), std::memory_order_relaxed) & bit_of(signal)) leave_signal(signal);
    }
  } catch (...) {
    stop_hearing(one);
    throw;
  }
  return &one;
}

descriptor copy_of_bell(signal_ear& of) try {
  const int copy = ::fcntl(of.bell, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) fail(errno, "fcntl");
  result<descriptor> adopted = descriptor::adopt(copy);
  if (!adopted) ::close(copy);
  return std::move(adopted).value();
} catch (...) {
  stop_hearing(of);
  throw;
}

int take_lowest(signal_ear& from) noexcept {
  // ORDER: relaxed, pairs with nothing: the fetch_and verifies it.
  std::uint64_t seen = from.come.load(std::memory_order_relaxed);
  while (seen != 0) {
    const int lowest = std::countr_zero(seen);
    const std::uint64_t bit = std::uint64_t{1} << lowest;
    // ORDER: acquire, pairs with the fetch_or in tell_ears().
    seen = from.come.fetch_and(~bit, std::memory_order_acquire);
    if (seen & bit) return lowest + 1;
  }
  return 0;
}

}  // namespace

result<int> signal_operation::take() noexcept {
  if (error != 0) return failure_of_transfer(error);
  done = 0;
  const int lowest = take_lowest(*ear);
  if (lowest == 0) return failure_of_transfer(EAGAIN);  // the set has ended meanwhile
  return lowest;
}

// One that was taken from the eventfd and never told is another's.
void signal_operation::resumed() noexcept {
  if (done != 0) ring(*ear);
  done = 0;
}

}  // namespace detail

signal_set::signal_set(std::initializer_list<int> signals) : ear_(hear(signals)), bell_(copy_of_bell(*ear_)) {}

signal_set::~signal_set() {
  bell_.close();
  stop_hearing(*ear_);
}

}}  // namespace hocket
