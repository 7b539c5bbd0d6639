// A connection of a server that is served by a job instead of a coroutine (io/detail/readiness_job.hpp).
//
//   class echo final : public job_connection {
//    public:
//     using job_connection::job_connection;
//
//    private:
//     void proceed(std::uint32_t) noexcept override {
//       do {
//         auto read = peer.read_idle().unwrap();
//         while (read.try_now()) ...                              // makes what calls it can
//       } while (!wait_idle());                                   // false: there is something to read by now
//     }
//   };
//   void begin(connection accepted) override { job_connection::start(*new echo(std::move(accepted))); }
//
// Its memory is the object alone: no frame, no storage of a wait. Its runs are on the executor on which it was created,
// one at a time.
//
// # States
//
//   state      meaning                                         left by
//   begun      created, and not run yet                           start(): posts the first run
//   served     proceed() is called for each notify()           end(), a stop of the server
//   ending     the steps of readiness_job.hpp, "The end"       the last run: destroyed
//
// # Phases
//
// A phase is a time in which the connection waits for its peer: for the head of a request, say. set_phase() writes its
// deadline, and whether a rate applies, into one word. The list of the acceptor reads the word once a second
// (connection_phase.hpp). If the phase is over, the list notifies the job (job_reason::late), and the connection
// decides what that means: it may have moved on meanwhile.
//
// # Hazards
//
// If the executor of the connection ended before the connection, then a run would be posted to nobody. Prevented: the
// connection is enrolled in the server's scope, as a coroutine is, and the server ends before its runtime.
//
// If the server is destroyed as soon as its last connection is no longer counted, then the rest of a run would use it.
// Prevented: the last step of a connection is leave() of the scope, and the server joins the scope.
//
// If an acceptor makes a connection while the server stops its connections, then the stop would not reach it.
// Prevented: start() lists the connection, and asks the stop of the scope after that; the server stops the scope, and
// notifies the list after that.
//
// # Access
//
// notify(): any thread. All else: a run.
#pragma once
#include <hocket/io/seam/open_descriptor.hpp>
#include <hocket/net/detail/connection_phase.hpp>
#include <hocket/net/detail/server_core.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class job_connection : public readiness_job, public server_core::connection, public phased_connection {
 public:
  // By server_core::begin(). Throws std::bad_alloc in conforming mode.
  explicit job_connection(server_core::connection&& accepted);
  job_connection(const job_connection&) = delete;
  job_connection& operator=(const job_connection&) = delete;

  // The first run is posted. Throws std::bad_alloc, if the server accepts nothing more: then it is destroyed.
  static void start(job_connection& created);

  static void* operator new(std::size_t bytes);
  static void operator delete(void* memory, std::size_t bytes) noexcept;

 protected:
  virtual ~job_connection();

  // Makes what calls it can, then waits by the functions below, or calls end(). `reasons`: job_reason.
  virtual void proceed(std::uint32_t reasons) noexcept = 0;

  // The next run is when the stream is readable (a message may begin; the connection is idle until then), readable,
  // writable, or at the end of the peer. False: a call may succeed already; wait_peer_end(): the peer has ended. A run
  // may be for nothing: wait again. After an error the connection ends.
  bool wait_idle() noexcept;
  bool wait_readable() noexcept;
  bool wait_writable() noexcept;
  bool wait_peer_end() noexcept;

  // The connection ends, in this run or in a later one. The stream is destroyed as a handler's: it may linger. `error`
  // counts as that of a handler.
  void end(std::error_code error = {}) noexcept;
  bool is_ending() const noexcept { return is_ending_; }

  // From now on, for at most that time. `rated`: at least 1 KB a second moves meanwhile (connection_phase.hpp).
  void begin_phase(duration limit, bool rated = false) noexcept;
  using phased_connection::add_moved;
  using phased_connection::end_phase;

 private:
  static bool run_job(repeating_job& self) noexcept;
  bool run(std::uint32_t reasons) noexcept;
  bool wait(direction& awaited, std::uint32_t reason) noexcept;
  void unwatch(direction& watched, std::uint32_t reason) noexcept;
  bool has_ended() noexcept;
  void leave() noexcept;

  std::uint8_t linked_ = 0;  // reasons: of the directions that may hold the job
  bool is_ending_ = false;
  bool is_idle_ = false;
  bool has_been_phased_ = false;
};

}}}  // namespace hocket::detail
