#include <hocket/io/signal_set.hpp>

#include <hocket/base/seam/mutex.hpp>
#include <hocket/base/seam/own_fds.hpp>
#include <hocket/base/seam/platform/raw_calls.hpp>
#include <hocket/io/seam/descriptor_table.hpp>
#include <hocket/runtime/seam/signal_table.hpp>

#include "io/epoll_driver.hpp"

#include <bit>
#include <cerrno>
#include <fcntl.h>
#include <memory>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

namespace detail {

namespace {

// The state of a set that the handler accesses. Receivers are never destroyed, but used again, because a handler may
// access one on any thread, at any time. So a receiver owns its eventfd, and the descriptor of a set borrows it.
//
// A signal sets its bit, and writes to the eventfd if the bit was clear. The bits alone tell which signals are there:
// each write is an edge for the drivers, so nobody reads the eventfd. A wait that is woken and finds no bit goes on.
//
// In a forked child each receiver has no bits, and an eventfd of its own by the same number.
struct signal_receiver {
  primitive::atomic<signal_bits> signals{0};
  primitive::atomic<signal_bits> received{0};
  const int event_fd;
  primitive::atomic<int> error{0};  // why the eventfd is the parent's
  bool used = true;                 // guarded by receivers_mutex
  signal_receiver* const next;

  signal_receiver(int fd, signal_receiver* after) noexcept : event_fd(fd), next(after) {}
};

constinit primitive::thread_mutex receivers_mutex;
constinit primitive::atomic<signal_receiver*> receivers{nullptr};  // grows at the front

int make_event_fd() noexcept { return own_fd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)); }

// Any thread, and a handler.
void deliver(signal_receiver& receiver, int signal) noexcept {
  // ORDER: release, pairs with the fetch_and in take_lowest(): what was before the signal.
  if (receiver.received.fetch_or(bit_of(signal), std::memory_order_release) & bit_of(signal)) return;
  // ORDER: relaxed, pairs with nothing: stored while the process had one thread.
  if (receiver.error.load(std::memory_order_relaxed) != 0) return;
  constexpr std::uint64_t once = 1;
  static_cast<void>(!raw_calls::write(receiver.event_fd, &once, sizeof once));
}

// In the handler.
void notify_receivers(int signal) noexcept {
  // ORDER: acquire, pairs with the store in new_receiver().
  for (signal_receiver* receiver = receivers.load(std::memory_order_acquire); receiver; receiver = receiver->next) {
    // ORDER: seq_cst, forbids that it comes before the handler has counted itself, against leave_all(). A signal that
    // comes while a set begins is heard or not.
    if (receiver->signals.load(std::memory_order_seq_cst) & bit_of(signal)) deliver(*receiver, signal);
  }
}

int take_lowest(signal_receiver& receiver) noexcept {
  // ORDER: relaxed, pairs with nothing: the fetch_and verifies it.
  signal_bits seen = receiver.received.load(std::memory_order_relaxed);
  while (seen != 0) {
    const int lowest = std::countr_zero(seen) + 1;
    // ORDER: acquire, pairs with the fetch_or in deliver().
    seen = receiver.received.fetch_and(~bit_of(lowest), std::memory_order_acquire);
    if (seen & bit_of(lowest)) return lowest;
  }
  return 0;
}

// --- a forked child

// An error number, or 0.
int replace_event_fd(int fd) noexcept {
  const int fresh = make_event_fd();
  if (fresh < 0) return errno;
  const int error = ::dup3(fresh, fd, O_CLOEXEC) < 0 ? errno : 0;
  ::close(fresh);
  return error;
}

// The parent's signals are not the child's. What the mutex guards is whole at every moment, so a copy that another
// thread of the parent held is made anew.
void begin_child() noexcept {
  std::construct_at(&receivers_mutex);
  // ORDER: relaxed, pairs with nothing: there is one thread in a child, here and below.
  for (signal_receiver* receiver = receivers.load(std::memory_order_relaxed); receiver; receiver = receiver->next) {
    receiver->received.store(0, std::memory_order_relaxed);  // ORDER: relaxed, as above.
    const int error = replace_event_fd(receiver->event_fd);
    receiver->error.store(error, std::memory_order_relaxed);  // ORDER: relaxed, as above.
  }
}

// --- receivers

// Under the mutex.
signal_receiver& new_receiver() {
  const int event_fd = make_event_fd();
  if (event_fd < 0) throw std::system_error(errno, std::system_category(), "eventfd");
  // ORDER: relaxed, pairs with nothing: guarded by the mutex.
  auto* const fresh = new (std::nothrow) signal_receiver(event_fd, receivers.load(std::memory_order_relaxed));
  if (!fresh) ::close(event_fd), throw std::bad_alloc();
  // ORDER: release, pairs with the load in notify_receivers(): the receiver is whole.
  receivers.store(fresh, std::memory_order_release);
  listen_to_signals(&notify_receivers, &begin_child);
  return *fresh;
}

// Under the mutex. One that a fork has left without an eventfd gets it now, if it can.
bool try_use(signal_receiver& receiver) noexcept {
  // ORDER: relaxed, pairs with nothing: no set uses it.
  if (receiver.used) return false;
  // ORDER: relaxed, as above.
  if (receiver.error.load(std::memory_order_relaxed) != 0) {
    const int error = replace_event_fd(receiver.event_fd);
    receiver.error.store(error, std::memory_order_relaxed);  // ORDER: relaxed, as above.
    if (error != 0) return false;
  }
  return receiver.used = true;
}

signal_receiver& unused_receiver() {
  const primitive::locked guard(receivers_mutex);
  // ORDER: relaxed, pairs with nothing: guarded by the mutex.
  for (signal_receiver* receiver = receivers.load(std::memory_order_relaxed); receiver; receiver = receiver->next) {
    if (try_use(*receiver)) return *receiver;
  }
  return new_receiver();
}

// When it returns, no handler accesses the receiver any more.
void leave_all(signal_receiver& receiver) noexcept {
  // ORDER: seq_cst, forbids that leave_signal() looks for handlers before it, against notify_receivers().
  signal_bits signals = receiver.signals.exchange(0, std::memory_order_seq_cst);
  for (int signal = 1; signals != 0; ++signal, signals >>= 1) {
    if (signals & 1) leave_signal(signal);
  }
}

void use_all(signal_receiver& receiver, std::initializer_list<int> signals) try {
  for (const int signal : signals) {
    use_signal(signal);
    // ORDER: relaxed, pairs with nothing: see notify_receivers().
    if (receiver.signals.fetch_or(bit_of(signal), std::memory_order_relaxed) & bit_of(signal)) leave_signal(signal);
  }
  // ORDER: relaxed, pairs with nothing: the caller's own stores.
  unblock_signals(receiver.signals.load(std::memory_order_relaxed));
} catch (...) {
  leave_all(receiver);
  throw;
}

void release_receiver(signal_receiver& receiver) noexcept {
  // ORDER: relaxed, pairs with nothing: guarded by the mutex below, and no handler accesses it.
  receiver.received.store(0, std::memory_order_relaxed);
  const primitive::locked guard(receivers_mutex);
  receiver.used = false;
}

// --- descriptors of sets

signal_receiver& receiver_of(const open_descriptor& at) noexcept { return *static_cast<signal_receiver*>(at.data()); }

class signal_receivers final : public backend {
 public:
  const char* name() const noexcept override { return "signals"; }
  constexpr signal_receivers() noexcept = default;
  static signal_receivers& instance() noexcept {
    static constinit signal_receivers backend_of_sets;
    return backend_of_sets;
  }

  call_end carry_out(open_descriptor& at, transfer& operation) noexcept override {
    signal_receiver& receiver = receiver_of(at);
    // ORDER: relaxed, pairs with nothing: stored while the process had one thread, or no set.
    if (const int error = receiver.error.load(std::memory_order_relaxed)) return operation.fail(error), call_end::done;
    const int signal = take_lowest(receiver);
    if (signal == 0) return call_end::blocks;
    operation.done = static_cast<std::size_t>(signal);
    operation.ended = true;
    return call_end::done;
  }

  result<io_driver*> driver_here() noexcept override { return epoll_driver::here(); }

  // The last call of the set is over.
  void close(open_descriptor& closed) noexcept override { release_receiver(receiver_of(closed)); }
};

descriptor receive(std::initializer_list<int> signals) {
  signal_receiver& receiver = unused_receiver();
  open_descriptor* const record =
      descriptor_table::take(signal_receivers::instance(), receiver.event_fd, descriptor_kind::other, &receiver);
  if (!record) release_receiver(receiver), throw std::bad_alloc();
  descriptor owner = descriptor_access::make(*record);
  use_all(receiver, signals);
  return owner;
}

}  // namespace

void signal_operation::give_back() noexcept {
  const int signal = static_cast<int>(std::exchange(done, std::size_t{0}));
  if (const used_fd fd(side->record(), generation); fd.is_open()) deliver(receiver_of(fd.record()), signal);
}

}  // namespace detail

signal_set::signal_set(std::initializer_list<int> signals) : event_(receive(signals)) {}

signal_set::~signal_set() { leave_all(receiver_of(descriptor_access::record_of(event_))); }

}}  // namespace hocket
