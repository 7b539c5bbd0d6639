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

// The state of a set that the signal handler accesses. A handler may access a receiver on any thread, at any time. So
// receivers are never destroyed: a later set uses the receiver of a destroyed set. The receiver owns the eventfd, and
// the descriptor of the set borrows it.
//
// A signal sets its bit, and writes to the eventfd if the bit was clear. The bits are the state; each write is an edge
// for the drivers, so no code reads the eventfd. A woken wait that finds no bit continues to wait.
//
// In a forked child each receiver has no bits, and an eventfd of its own with the same fd.
struct signal_receiver {
  primitive::atomic<signal_bits> signals{0};
  primitive::atomic<signal_bits> received{0};
  const int event_fd;
  primitive::atomic<int> error{0};  // not 0: a forked child could not replace the parent's eventfd
  bool is_used = true;              // guarded by receivers_mutex
  signal_receiver* const next;

  signal_receiver(int fd, signal_receiver* following) noexcept : event_fd(fd), next(following) {}
};

constinit primitive::thread_mutex receivers_mutex;
constinit primitive::atomic<signal_receiver*> receivers{nullptr};  // grows at the front

int make_event_fd() noexcept { return own_fd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)); }

// Any thread, also in the signal handler.
void deliver(signal_receiver& receiver, int signal) noexcept {
  // ORDER: release, pairs with the fetch_and in take_lowest(): the writes before the signal are visible to the waiter.
  if (receiver.received.fetch_or(bit_of(signal), std::memory_order_release) & bit_of(signal)) return;
  // ORDER: relaxed, pairs with nothing: stored while the process had one thread.
  if (receiver.error.load(std::memory_order_relaxed) != 0) return;
  constexpr std::uint64_t once = 1;
  static_cast<void>(!raw_calls::write(receiver.event_fd, &once, sizeof once));
}

// Runs in the signal handler.
void notify_receivers(int signal) noexcept {
  // ORDER: acquire, pairs with the store in new_receiver().
  for (signal_receiver* receiver = receivers.load(std::memory_order_acquire); receiver; receiver = receiver->next) {
    // ORDER: seq_cst, forbids a load before the handler has counted itself, against leave_all().
    if (receiver->signals.load(std::memory_order_seq_cst) & bit_of(signal)) deliver(*receiver, signal);
  }
}

int take_lowest(signal_receiver& receiver) noexcept {
  // ORDER: relaxed, pairs with nothing: the fetch_and verifies it.
  signal_bits pending = receiver.received.load(std::memory_order_relaxed);
  while (pending != 0) {
    const int lowest = std::countr_zero(pending) + 1;
    // ORDER: acquire, pairs with the fetch_or in deliver().
    pending = receiver.received.fetch_and(~bit_of(lowest), std::memory_order_acquire);
    if (pending & bit_of(lowest)) return lowest;
  }
  return 0;
}

// --- a forked child

// Returns an error number, or 0.
int replace_event_fd(int fd) noexcept {
  const int new_fd = make_event_fd();
  if (new_fd < 0) return errno;
  const int error = ::dup3(new_fd, fd, O_CLOEXEC) < 0 ? errno : 0;
  ::close(new_fd);
  return error;
}

// Drops the parent's signals. Another thread of the parent may have held the mutex at the fork, so the child constructs
// it anew. The state that it guards is consistent at every moment.
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
  auto* const receiver = new (std::nothrow) signal_receiver(event_fd, receivers.load(std::memory_order_relaxed));
  if (!receiver) {
    ::close(event_fd);
    throw std::bad_alloc();
  }
  // ORDER: release, pairs with the load in notify_receivers(): the handler reads a complete receiver.
  receivers.store(receiver, std::memory_order_release);
  listen_to_signals(&notify_receivers, &begin_child);
  return *receiver;
}

// Under the mutex. Retries the eventfd of a receiver for which a forked child had none.
bool try_use(signal_receiver& receiver) noexcept {
  // ORDER: relaxed, pairs with nothing: no set uses it.
  if (receiver.is_used) return false;
  // ORDER: relaxed, as above.
  if (receiver.error.load(std::memory_order_relaxed) != 0) {
    const int error = replace_event_fd(receiver.event_fd);
    receiver.error.store(error, std::memory_order_relaxed);  // ORDER: relaxed, as above.
    if (error != 0) return false;
  }
  receiver.is_used = true;
  return true;
}

signal_receiver& unused_receiver() {
  const primitive::locked guard(receivers_mutex);
  // ORDER: relaxed, pairs with nothing: guarded by the mutex.
  for (signal_receiver* receiver = receivers.load(std::memory_order_relaxed); receiver; receiver = receiver->next) {
    if (try_use(*receiver)) return *receiver;
  }
  return new_receiver();
}

// Waits for running handlers: after the return no handler accesses the receiver.
void leave_all(signal_receiver& receiver) noexcept {
  // ORDER: seq_cst, forbids that leave_signal() reads the count of handlers before it, against notify_receivers().
  signal_bits signals = receiver.signals.exchange(0, std::memory_order_seq_cst);
  for (int signal = 1; signals != 0; ++signal, signals >>= 1) {
    if (signals & 1) leave_signal(signal);
  }
}

// The bit is set before the handler is installed: each signal that the handler receives is delivered.
void use_one(signal_receiver& receiver, int signal) try {
  // ORDER: relaxed, pairs with nothing: the system installs the handler after it, and delivers the signal to the
  // handler.
  if (receiver.signals.fetch_or(bit_of(signal), std::memory_order_relaxed) & bit_of(signal)) return;
  use_signal(signal);
} catch (...) {
  // ORDER: relaxed, pairs with nothing: no set has a signal that cannot be handled.
  receiver.signals.fetch_and(~bit_of(signal), std::memory_order_relaxed);
  throw;
}

void use_all(signal_receiver& receiver, std::initializer_list<int> signals) try {
  for (const int signal : signals) use_one(receiver, signal);
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
  receiver.is_used = false;
}

// --- descriptors of sets

signal_receiver& receiver_of(const open_descriptor& record) noexcept {
  return *static_cast<signal_receiver*>(record.data());
}

class signal_receivers final : public backend {
 public:
  const char* name() const noexcept override { return "signals"; }
  constexpr signal_receivers() noexcept = default;
  static signal_receivers& instance() noexcept {
    static constinit signal_receivers backend_of_sets;
    return backend_of_sets;
  }

  call_end carry_out(open_descriptor& record, transfer& operation) noexcept override {
    signal_receiver& receiver = receiver_of(record);
    // ORDER: relaxed, pairs with nothing: stored while the process had one thread, or no set.
    if (const int error = receiver.error.load(std::memory_order_relaxed)) {
      operation.fail(error);
      return call_end::done;
    }
    const int signal = take_lowest(receiver);
    if (signal == 0) return call_end::blocks;
    operation.done = static_cast<std::size_t>(signal);
    operation.ended = true;
    return call_end::done;
  }

  result<io_driver*> driver_here() noexcept override { return epoll_driver::driver_here(); }

  // After the last call of the set.
  void close(open_descriptor& record) noexcept override { release_receiver(receiver_of(record)); }
};

descriptor receive(std::initializer_list<int> signals) {
  signal_receiver& receiver = unused_receiver();
  open_descriptor* const record =
      descriptor_table::take(signal_receivers::instance(), receiver.event_fd, descriptor_kind::other, &receiver);
  if (!record) {
    release_receiver(receiver);
    throw std::bad_alloc();
  }
  descriptor owner = descriptor_access::make(*record);
  use_all(receiver, signals);
  return owner;
}

}  // namespace

void signal_operation::redeliver() noexcept {
  const int signal = static_cast<int>(std::exchange(done, std::size_t{0}));
  if (const used_fd fd(side->record(), generation); fd.is_open()) deliver(receiver_of(fd.record()), signal);
}

}  // namespace detail

signal_set::signal_set(std::initializer_list<int> signals) : event_(receive(signals)) {}

signal_set::~signal_set() { leave_all(receiver_of(descriptor_access::record_of(event_))); }

}}  // namespace hocket
