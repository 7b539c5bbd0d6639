#include <hocket/base/detail/mutex.hpp>
#include <hocket/base/detail/own_fds.hpp>
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

// The state of a set that the handler accesses. Receivers are never destroyed, but used again, because a handler may
// access one on any thread, at any time. So a receiver owns its eventfd, and a set waits for a copy of the fd.
//
// A signal sets its bit, and adds 1 to the eventfd if the bit was clear. A wait that takes 1 from the eventfd clears
// one bit. So the eventfd counts the bits.
struct signal_receiver {
  primitive::atomic<std::uint64_t> signals{0};  // bit n - 1 is signal n
  primitive::atomic<std::uint64_t> received{0};
  const int event_fd;
  bool used = true;  // guarded by receivers_mutex
  signal_receiver* const next;

  signal_receiver(int fd, signal_receiver* after) noexcept : event_fd(fd), next(after) {}
};

namespace {

constinit primitive::thread_mutex receivers_mutex;
constinit primitive::atomic<signal_receiver*> receivers{nullptr};  // grows at the front

std::uint64_t bit_of(int signal) noexcept { return std::uint64_t{1} << (signal - 1); }

void add_event(const signal_receiver& receiver) noexcept {
  constexpr std::uint64_t once = 1;
  static_cast<void>(!raw_calls::write(receiver.event_fd, &once, sizeof once));
}

// In the handler.
void notify_receivers(int signal) noexcept {
  // ORDER: acquire, pairs with the store in new_receiver().
  for (signal_receiver* receiver = receivers.load(std::memory_order_acquire); receiver; receiver = receiver->next) {
    // ORDER: seq_cst, forbids that it comes before the handler has counted itself, against stop_receiving(). A signal
    // that comes while a set begins is heard or not.
    if ((receiver->signals.load(std::memory_order_seq_cst) & bit_of(signal)) == 0) continue;
    // ORDER: release, pairs with the fetch_and in take_lowest(): what was before the signal.
    if ((receiver->received.fetch_or(bit_of(signal), std::memory_order_release) & bit_of(signal)) == 0)
      add_event(*receiver);
  }
}

[[noreturn]] void fail(int error, const char* what) { throw std::system_error(error, std::system_category(), what); }

// Under the mutex.
signal_receiver& new_receiver() {
  const int event_fd = own_fd(::eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK | EFD_CLOEXEC));
  if (event_fd < 0) fail(errno, "eventfd");
  // ORDER: relaxed, pairs with nothing: guarded by the mutex.
  auto* const fresh = new (std::nothrow) signal_receiver(event_fd, receivers.load(std::memory_order_relaxed));
  if (!fresh) ::close(event_fd), throw std::bad_alloc();
  // ORDER: release, pairs with the load in notify_receivers(): the receiver is whole.
  receivers.store(fresh, std::memory_order_release);
  listen_to_signals(&notify_receivers);
  return *fresh;
}

signal_receiver& unused_receiver() {
  const primitive::locked guard(receivers_mutex);
  // ORDER: relaxed, pairs with nothing: guarded by the mutex.
  for (signal_receiver* receiver = receivers.load(std::memory_order_relaxed); receiver; receiver = receiver->next) {
    if (!std::exchange(receiver->used, true)) return *receiver;
  }
  return new_receiver();
}

// When it returns, no handler accesses the receiver any more.
void stop_receiving(signal_receiver& receiver) noexcept {
  // ORDER: seq_cst, forbids that leave_signal() looks for handlers before it, against notify_receivers().
  std::uint64_t signals = receiver.signals.exchange(0, std::memory_order_seq_cst);
  for (int signal = 1; signals != 0; ++signal, signals >>= 1) {
    if (signals & 1) leave_signal(signal);
  }
  std::uint64_t count = 0;
  while (raw_calls::read(receiver.event_fd, &count, sizeof count) == sizeof count) {
  }
  // ORDER: relaxed, pairs with nothing: as above.
  receiver.received.store(0, std::memory_order_relaxed);
  const primitive::locked guard(receivers_mutex);
  receiver.used = false;
}

signal_receiver* receive(std::initializer_list<int> signals) {
  signal_receiver& receiver = unused_receiver();
  try {
    for (const int signal : signals) {
      use_signal(signal);
      // ORDER: relaxed, pairs with nothing: see notify_receivers().
      if (receiver.signals.fetch_or(bit_of(signal), std::memory_order_relaxed) & bit_of(signal)) leave_signal(signal);
    }
  } catch (...) {
    stop_receiving(receiver);
    throw;
  }
  return &receiver;
}

descriptor copy_of_event_fd(signal_receiver& receiver) try {
  const int copy = ::fcntl(receiver.event_fd, F_DUPFD_CLOEXEC, first_own_fd);
  if (copy < 0) fail(errno, "fcntl");
  result<descriptor> adopted = descriptor::adopt(copy);
  if (!adopted) ::close(copy);
  return std::move(adopted).value();
} catch (...) {
  stop_receiving(receiver);
  throw;
}

int take_lowest(signal_receiver& receiver) noexcept {
  // ORDER: relaxed, pairs with nothing: the fetch_and verifies it.
  std::uint64_t seen = receiver.received.load(std::memory_order_relaxed);
  while (seen != 0) {
    const int lowest = std::countr_zero(seen);
    const std::uint64_t bit = std::uint64_t{1} << lowest;
    // ORDER: acquire, pairs with the fetch_or in notify_receivers().
    seen = receiver.received.fetch_and(~bit, std::memory_order_acquire);
    if (seen & bit) return lowest + 1;
  }
  return 0;
}

}  // namespace

result<int> signal_operation::take() noexcept {
  if (error != 0) return failure_of_transfer(error);
  done = 0;
  const int lowest = take_lowest(*receiver);
  if (lowest == 0) return failure_of_transfer(EAGAIN);  // the set has ended meanwhile
  return lowest;
}

// An event that was taken from the eventfd and never returned goes back for another wait.
void signal_operation::resumed() noexcept {
  if (done != 0) add_event(*receiver);
  done = 0;
}

}  // namespace detail

signal_set::signal_set(std::initializer_list<int> signals)
    : receiver_(receive(signals)), event_(copy_of_event_fd(*receiver_)) {}

signal_set::~signal_set() {
  event_.close();
  stop_receiving(*receiver_);
}

}}  // namespace hocket
