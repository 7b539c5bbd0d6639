// The lingerer of a server: waits for the peers of connections that were closed too early, so that they receive the
// last words of the handlers.
//
// # Why
//
// A handler may answer before it has read the whole request, and return. If the server closed the socket then, the
// system would answer further bytes of the peer by a reset. The reset drops what is still to be sent, and a peer that
// writes may see it before it reads the answer (RFC 9112, 9.6). So the socket is closed in three steps: shut down
// writing, read and drop until the peer closes, close.
//
// # Which connections linger
//
// The connections with a stream that was destroyed, and not closed, before a read has found its end
// (io/seam/descriptor_family.hpp). A handler that has failed may have written an error: its connection lingers, too.
// A killed handler's does not.
//
// # When a connection is closed
//
//   - its end is read, or a read fails: at once
//   - `most_bytes` were dropped: the peer does not stop, and is reset
//   - for `patience` nothing was read, and the system's send queue has not become shorter
//   - `longest` after its beginning
//   - the server had ended it while it was idle, and all that was written has arrived
//   - the server cancels its connections: end()
//   - the server needs its place: end_oldest()
//
// # One coroutine for all
//
// A wait of its own for each connection would cost a kilobyte each, for connections that have no further use. So one
// coroutine has a list, and looks at each descriptor at growing intervals: when it arrives, after 1, 2, 4 ... ms, then
// each 256 ms. Most peers close within a round trip, and are seen to within twice that time. A look is one call of the
// system, and of a silent connection two: the length of the send queue cannot be waited for anyway. So the times above
// may be exceeded by an interval.
//
// Rejected: an epoll of the lingerer's own. It would take an fd from a server that perhaps lacks them, and networks in
// memory have none.
//
// # Structure
//
//   arrived_     descriptors that the coroutine does not know yet, guarded by their mutex: take_over() is called by any
//                thread, and must not wait for a look
//   waiting_[i]  descriptors with a next look 2^i ms after the last one. So each list is in the order of its looks.
//
// # Hazards
//
// If a descriptor arrives while the server ends, then no party would look at it. Prevented: end() calls leave() first.
// Afterwards no take_over() is under way, and none begins; end() closes the connections that have arrived.
//
// If the coroutine is killed, then nobody looks at the list. Prevented: its end calls end() in every case.
//
// # Access
//
// enter() (descriptor_family), run(): the server. take_over(), end(), end_oldest(): any thread.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/seam/list.hpp>
#include <hocket/base/seam/mutex.hpp>
#include <hocket/coro/task.hpp>
#include <hocket/io/seam/descriptor_family.hpp>
#include <hocket/io/seam/open_descriptor.hpp>
#include <hocket/net/detail/connection_count.hpp>
#include <hocket/sync/auto_reset_event.hpp>
#include <array>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class lingerer final : public descriptor_family {
 public:
  static constexpr std::size_t most_bytes = std::size_t{256} * 1024;
  static constexpr duration patience = std::chrono::seconds(2);
  static constexpr duration longest = std::chrono::seconds(30);

  // Lingering connections count there, but not refused ones.
  explicit lingerer(connection_count& count) noexcept : count_(count) {}
  ~lingerer() { end(); }

  // Instead of descriptor_family::enter().
  void begin() noexcept {
    enter();
    refused_.enter();
  }
  // The number of a second family, whose descriptors linger without being counted: peers over the limit.
  std::uint64_t number_of_refused() const noexcept { return refused_.number(); }

  // The coroutine. Once.
  task<> run();
  // Closes all, and takes nothing more. run() returns soon.
  void end() noexcept;
  // Closes the connection that has lingered for longest, and counts. False: there is none.
  bool end_oldest() noexcept;

 private:
  struct entry;
  class end_guard;
  class refused_family final : public descriptor_family {
   public:
    explicit refused_family(lingerer& owner) noexcept : owner_(owner) {}

   private:
    bool take_over(open_descriptor& closed) noexcept override { return owner_.take(closed, false); }

    lingerer& owner_;
  };
  static constexpr std::size_t intervals = 9;    // 1 to 256 ms
  static constexpr std::size_t most_looks = 64;  // at once

  bool take_over(open_descriptor& closed) noexcept override { return take(closed, true); }
  bool take(open_descriptor& closed, bool is_counted) noexcept;
  bool is_ended() noexcept;
  time_point inspect_all() noexcept;
  void take_arrived(time_point present) noexcept;
  void inspect(entry& candidate, time_point present, list<entry>& done) noexcept;
  static bool is_done(entry& candidate, time_point present) noexcept;
  time_point next_look() noexcept;
  entry* oldest() noexcept;
  void close_all(list<entry>& done) noexcept;

  connection_count& count_;
  refused_family refused_{*this};
  auto_reset_event news_;  // something has arrived, or the end

  primitive::thread_mutex arrivals_mutex_;
  list<entry> arrived_;  // guarded by arrivals_mutex_
  bool over_ = false;    // guarded by arrivals_mutex_

  primitive::thread_mutex waiting_mutex_;
  std::array<list<entry>, intervals> waiting_;  // guarded by waiting_mutex_
};

}}}  // namespace hocket::detail
