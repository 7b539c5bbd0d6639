// An open descriptor: its fd, its directions, and the drivers that watch it. It is an entry of a table, and the table
// frees no memory (descriptor_table.hpp). So a late event finds a descriptor, if perhaps another one.
//
// # Life
//
// 1. descriptor_table::take(): in use, with an fd, not watched.
// 2. The first operation that has to wait: attach_here(). The driver of that thread watches the descriptor.
// 3. close(): each direction ends its waits. If another party has the word of a direction, that party closes the
//    direction. The last direction has the drivers stop watching, and closes the fd. So no call uses an fd that the
//    system has given to another file. A call that is no transfer (an option of a socket) counts as a direction.
// 4. The owner's drop(), and the last direction, in either order: the descriptor returns to the table, with the next
//    generation.
//
// A descriptor of a server may linger before step 3 closes the fd, if its owner destroys it (descriptor_family.hpp).
// Its directions are closed by then, so operations fail as at a closed descriptor, and no driver watches it.
//
// # The drivers that watch
//
// Each group that waits has a driver of its own watch the descriptor. A group is a loop, a plain thread, or a runtime,
// whose workers share the descriptors that one of them watches.
//
// If one group alone watched, then the waits of another group would depend on a loop that does not run, or on a thread
// that waits for nothing. Prevented: a second group registers, too. The system reports each edge to both, and the first
// group that polls serves the waiter. If no operation waits when a group registers, the registrations of the other
// groups end. So if one loop accepts a connection and another loop serves it, events wake the second loop alone.
//
//   a wait of group X                       a wait of group Y, at the same time
//   1. attach_here(): X is registered       a. under the mutex: group_ = null
//   2. its waiter is in the word            b. is any direction in use? then group_ = X again
//   3. is_attached(): else registers again  c. else X's registration is dropped
//
// Steps 2 and b are read-modify-writes of one word. So either b is first, and X finds that it is not registered, or Y
// finds the waiter.
//
// # A forked child
//
// The child has copies of the waiters, and no thread that resumes them. If a wait of the child was in line behind a
// copy, then the driver of the child would serve the copy first, and the child would lose the bytes. Prevented: the
// first registration in the child, close() and release() abandon the waits of the parent. A copy counts as linked, so
// that a stop can still end its wait.
//   - All registrations are of one process, since the first registration in the child drops the others.
//   - The child changes nothing in the epoll of the parent.
//   - A call that a thread of the parent made during the fork looks like a call of the child. Then operations of that
//     direction wait in the child for ever.
//
// # Late events
//
// An event has index and generation. Between the look at the generation and the edge the descriptor may be closed and
// its place used again. Then the next descriptor gets a spurious edge: one call that would block.
//
// # Counts
//
// An operation of bytes that fails leaves its count, also if a stop or a deadline ended it before its first call. The
// operation does so itself, at the end of its await, since no other party sees all ends. There are two counts, of reads
// and of writes, and a third count of the write that is half done (direction.hpp). They lie in the words of the three
// directions.
//
// # Access
//
// attach_here(), is_attached(): the thread of a coroutine that is about to wait. hand_over(): the party that has the
// word. All else: any thread.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/seam/list.hpp>
#include <hocket/base/seam/mutex.hpp>
#include <hocket/io/detail/compact_address.hpp>
#include <hocket/io/detail/direction.hpp>
#include <hocket/io/detail/drain_waits.hpp>
#include <hocket/io/detail/registration.hpp>
#include <hocket/io/seam/backend.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class io_driver;

// The kind of the object behind an fd, as far as calls differ.
enum class descriptor_kind : std::uint8_t {
  other,   // pipes, terminals, eventfds: read(2) and write(2); only a call that would block proves that it is drained
  shared,  // the same, but calls may block, as other processes set it: poll(2) precedes each call
  stream,  // TCP: a short read or write proves it, too. (A read of a unix socket stops behind passed descriptors.)
  socket,  // any other socket, and a stream that expects short reads
};

// What this side has shut down; bits.
enum class shut_directions : std::uint8_t { none = 0, read = 1, write = 2, both = 3 };
// What reads have found of the end of a stream, and whether it lingers after its owner has destroyed it
// (descriptor_family.hpp).
enum class stream_end : std::uint8_t {
  open,          // no read has found the end
  read,          // a read has found the end, or the owner does not wait for it
  idle,          // the server has ended the stream while it was idle
  open_lingers,  // as `open` and `idle`, and destroyed
  idle_lingers,
};

// The time since when a connection is idle: 32 bits, in units of 2^20 ns (1.05 ms), on the clock of the executor. Not
// 0: then it is not idle. The numbers wrap after 52 days. A connection that has been idle for longer looks younger,
// which changes the order of eviction alone: no limit is longer than half of that.
inline constexpr unsigned idle_time_bits = 20;
inline std::uint32_t idle_time(time_point present) noexcept {
  const auto time = static_cast<std::uint32_t>(present.time_since_epoch().count() >> idle_time_bits);
  return time != 0 ? time : 1;
}

class open_descriptor {
 public:
  explicit open_descriptor(std::uint32_t index) noexcept : index_(index) {}
  open_descriptor(const open_descriptor&) = delete;
  open_descriptor& operator=(const open_descriptor&) = delete;

  // The table only.
  void open(backend& system, int fd, descriptor_kind kind, void* data = nullptr) noexcept;

  // The owner's. Both once.
  void close() noexcept;
  void drop() noexcept;
  // Any thread. True: no other descriptor takes this place until drop(). False: it is not in use.
  bool try_use() noexcept;
  // The operation of this transfer has failed.
  [[HOCKET_COLD]] void save_count(const transfer& failed) noexcept;
  // How many bytes the last operation has moved that failed.
  std::size_t failed_read_size() const noexcept { return in.count(); }
  std::size_t failed_write_size() const noexcept { return peer.count(); }
  // Permits writes after a partial write. Gives the count of that write; if there is none, failed_write_size().
  std::size_t resume_after_partial_write() noexcept { return out.resume_after_partial(failed_write_size()); }
  // Both, by the destructor of the owner. A descriptor of a server may linger.
  void end() noexcept;
  // Of a descriptor that lingers, by its family, once: closes the fd.
  void end_lingering() noexcept;
  // The fd stays what it is until leave_fd(). False: the descriptor is closed, or being closed.
  bool enter_fd() noexcept;
  void leave_fd() noexcept { direction_closed(); }
  // Before a shutdown(2) by this side.
  void record_shutdown(shut_directions which) noexcept {
    // ORDER: relaxed, pairs with nothing: the system orders the edge of the shutdown behind it.
    shut_down_.fetch_or(static_cast<std::uint8_t>(which), std::memory_order_relaxed);
  }
  shut_directions shut_down_here() const noexcept {
    // ORDER: relaxed, pairs with nothing: as above.
    return static_cast<shut_directions>(shut_down_.load(std::memory_order_relaxed));
  }
  // Before others know the descriptor.
  void set_peer_name(const compact_address& name) noexcept { peer_name_ = name; }
  // Of an internet connection that hocket has made or accepted; else empty.
  const compact_address& peer_name() const noexcept { return peer_name_; }
  // The server that it belongs to, which ends all of its connections. Before others know the descriptor.
  void belongs_to(std::uint64_t family) noexcept {
    // ORDER: relaxed, pairs with nothing: see end_when_idle().
    family_.store(family, std::memory_order_relaxed);
  }
  // Any thread, also of a descriptor that is not in use. If it belongs there: a read for bytes to lend that would wait,
  // or waits, gives the end of the stream; and all waits for the drain end.
  void end_when_idle(std::uint64_t family) noexcept;
  // Any thread: the same for one descriptor, if it has this generation, and has been idle since that time; no drain.
  void evict(std::uint32_t generation, std::uint32_t since) noexcept;
  bool ends_when_idle() const noexcept {
    // ORDER: relaxed, ordered by the edge that end_when_idle() reports: the call after it sees this.
    return idle_end_.load(std::memory_order_relaxed) != idle_end::none;
  }
  // Its server drains.
  bool is_draining() const noexcept {
    // ORDER: relaxed, pairs with nothing: a look; under the mutex ordered by it (drain_waits.hpp).
    return idle_end_.load(std::memory_order_relaxed) == idle_end::drained;
  }
  // Since when a read between two messages has waited, alone and without a deadline, as idle_time(); 0:
  // no such read waits. By the party that reads.
  void set_idle_since(std::uint32_t time) noexcept {
    // ORDER: relaxed, pairs with nothing: after evict() a read that has bytes still gets them.
    idle_since_.store(time, std::memory_order_relaxed);
  }
  std::uint32_t idle_since() const noexcept {
    // ORDER: relaxed, as above.
    return idle_since_.load(std::memory_order_relaxed);
  }
  // For a stacked backend: `top` is the backend from now on, and `below` becomes the present one. An error number, or
  // 0.
  int put_on_top(backend& top, backend*& below) noexcept;
  // Gives the fd up without closing it. False: an operation waits or makes a call; nothing happens.
  bool release() noexcept;
  std::uint64_t family() const noexcept {
    // ORDER: relaxed, pairs with nothing: see end_when_idle().
    return family_.load(std::memory_order_relaxed);
  }

  // By the party that has the word of the direction `in`, or by the owner.
  void record_end(stream_end found) noexcept {
    // ORDER: relaxed, pairs with nothing: if the last party misses it, the descriptor lingers for a look, or not at
    // all.
    stream_end_.store(found, std::memory_order_relaxed);
  }
  stream_end recorded_end() const noexcept {
    // ORDER: relaxed, as above.
    return stream_end_.load(std::memory_order_relaxed);
  }

  bool is_closed() const noexcept {
    // ORDER: relaxed, pairs with the store in close(): a look.
    return closed_.load(std::memory_order_relaxed);
  }

  std::uint32_t index() const noexcept { return index_; }
  std::uint32_t generation() const noexcept {
    // ORDER: relaxed, pairs with nothing: an edge for another descriptor does no harm.
    return generation_.load(std::memory_order_relaxed);
  }
  int native_handle() const noexcept { return fd_; }  // -1: its backend has no numbers
  backend& system() const noexcept { return *backend_; }
  void* data() const noexcept { return data_; }  // the backend's
  // While it is not in use: the next descriptor of the table that is not in use.
  open_descriptor* next_unused() const noexcept { return static_cast<open_descriptor*>(data_); }
  void set_next_unused(open_descriptor* next) noexcept { data_ = next; }
  descriptor_kind kind() const noexcept {
    // ORDER: relaxed, pairs with nothing: the word of the direction orders the call after expect_short_reads().
    return kind_.load(std::memory_order_relaxed);
  }
  // An event has reported the end of the stream or urgent data. A read stops at the mark of urgent data. From now on a
  // short read does not prove that the stream is drained: more may be there already, and no edge will report it.
  void expect_short_reads() noexcept;

  // --- for the directions

  // The next call of the direction may succeed. By a thread that is no driver's.
  void notify_edge(direction& side) noexcept;
  // Has a driver of the current group watch it. An error number, or 0.
  int attach_here() noexcept;
  bool is_attached() noexcept;
  call_end carry_out(transfer& operation) noexcept {
    if constexpr (debug_checks) return carry_out_checked(operation);
    else return backend_->carry_out(*this, operation);
  }
  // Leaves the waiter to a driver of its group, with the word of its direction taken. False: none watches.
  bool hand_over(primitive::waiter& entry) noexcept;
  void direction_closed() noexcept;
  primitive::thread_mutex& mutex() noexcept { return mutex_; }

  // --- for drivers

  // That driver ends.
  void detach_from(io_driver& ending) noexcept;
  // A guess while threads run.
  std::size_t waiting() const noexcept { return in.waiting() + out.waiting() + peer.waiting(); }

  // Blocks that are lent from it, or were from those before it (lending.hpp).
  primitive::atomic<std::uint32_t> lent{0};

 private:
  // Whether a read between two messages gives the end of the stream instead of waiting.
  enum class idle_end : std::uint8_t {
    none,
    evicted,  // the server needs the place, or the connection was idle for too long
    drained,  // the server drains
  };

  const std::uint32_t index_;  // here it fills a gap

 public:
  direction in{*this}, out{*this}, peer{*this};
  drain_waits drains;

 private:
  call_end carry_out_checked(transfer& operation) noexcept;
  int attach_to_driver() noexcept;
  int attach_to(io_driver& watcher, const void* group) noexcept;
  registration* find(const void* group) noexcept;
  void leave_unused() noexcept;
  void abandon_waits_of_parent() noexcept;
  void leave_parent() noexcept;
  void drop(registration& watch) noexcept;
  void drop_all() noexcept;
  void drop_of(const io_driver& ending) noexcept;
  void take_for_ready() noexcept;
  bool has_drain_waits() noexcept;
  bool may_linger() const noexcept;
  bool lingers() const noexcept { return recorded_end() >= stream_end::open_lingers; }
  bool begin_lingering() noexcept;
  bool in_use() noexcept { return in.in_use() || out.in_use() || peer.in_use(); }

  primitive::atomic<std::uint32_t> generation_{0};
  // Constant while it is in use.
  int fd_ = -1;
  backend* backend_ = nullptr;
  void* data_ = nullptr;
  bool released_ = false;  // the fd is not ours any more
  primitive::atomic<idle_end> idle_end_{idle_end::none};
  primitive::atomic<bool> closed_{false};

  primitive::atomic<descriptor_kind> kind_{descriptor_kind::other};
  compact_address peer_name_;  // constant once others know the descriptor
  primitive::atomic<std::uint8_t> shut_down_{0};
  primitive::atomic<stream_end> stream_end_{stream_end::open};
  primitive::atomic<std::uint32_t> idle_since_{0};
  primitive::atomic<std::uint64_t> family_{0};
  primitive::atomic<std::uint32_t> uses_{0};        // the owner, and the directions together
  primitive::atomic<std::uint32_t> directions_{0};  // that are not closed, and calls that are no transfers
  // The group of first_; null: it is not in use.
  primitive::atomic<const void*> group_{nullptr};
  primitive::atomic<std::uint32_t> forks_{0};  // of the last registration
  primitive::thread_mutex mutex_;
  // Guarded by mutex_. Behind first_ are the registrations of further groups; they are owned.
  registration first_{*this};
};

}}}  // namespace hocket::detail
