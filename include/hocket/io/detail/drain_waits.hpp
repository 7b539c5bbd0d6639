// The waits for the drain of the server of one connection (socket_stream::drain_requested()).
//
// # Why not a direction
//
// All operations of a direction wait for one thing, so a direction tries the first one of its line only
// (direction.hpp). If waits for the drain were in the line of the end of the peer, then the first wait of a line would
// hide each wait for the other reason, because it stays first until its own reason arrives. Prevented: the two have no
// line in common. A wait for the drain makes no call of the system, so it needs neither a driver nor a backend.
//
// # No drain is lost
//
//   a wait                                     the drain, or close(), on another thread
//   1. under the mutex: is the descriptor      a. marks the descriptor
//      marked? If not, links the waiter        b. under the mutex: unlinks a waiter, until there is none
//   2. if it is marked, ends the wait          c. without the mutex: ends the wait of each
//
// If step 1 precedes step b, then b finds the waiter. Otherwise step 1 sees the mark, by the mutex.
//
// # The end of a wait by a stop or a deadline
//
// detach() unlinks the waiter. If step b has unlinked it already, then detach() returns false, and the waiter stays
// valid until step c has asked the claim.
//
// # Late operations
//
// If an operation began after its descriptor was closed and its place used again, then it would wait for the drain of
// another server. Prevented: the operation holds a use of the descriptor, and compares the generations meanwhile.
//
// # A forked child
//
// If a child ended a wait of its parent, then it would post a coroutine to an executor without a thread. Prevented:
// each operation has the number of forks. Step b unlinks the waits of the parent and does not end them; a copy counts
// as linked, so that a stop can still end its wait.
//
// # Access
//
// Any thread.
#pragma once
#include <hocket/base/seam/short_list.hpp>
#include <hocket/primitive.hpp>
#include <cstddef>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class open_descriptor;

// The words of one wait. They are a part of its operation.
struct drain_wait {
  open_descriptor* record;
  std::uint32_t generation;  // of the descriptor for which it was made
  std::uint32_t forks = 0;   // forks_so_far() when it began to wait
  std::ptrdiff_t error = 0;  // an error number; as wide as a pointer, so that nothing is padding

  // The wait is in no list. 0: it is granted.
  static void end(primitive::waiter& entry, int error) noexcept;
};

class drain_waits {
 public:
  // The descriptor is marked. 0: it drains; the waits are granted. Otherwise they fail with this error number.
  void end_all(primitive::thread_mutex& mutex, int error) noexcept;

  // Under the mutex of the descriptor. The first wait of this process; null: there is none.
  primitive::waiter* first() noexcept;
  void push_back(primitive::waiter& entry) noexcept { waiters_.push_back(entry); }
  // False: another party has unlinked the waiter.
  bool take_out(primitive::waiter& entry) noexcept;

 private:
  primitive::waiter* pop(primitive::thread_mutex& mutex) noexcept;

  short_list<primitive::waiter> waiters_;  // guarded by the mutex of the descriptor
};

}}}  // namespace hocket::detail
