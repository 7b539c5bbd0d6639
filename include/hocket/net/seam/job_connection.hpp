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
//         while (read.try_now()) ...                              // reads and writes until a call would block
//       } while (!wait_idle());                                   // false: there is something to read by now
//     }
//   };
//   void begin(connection accepted) override { job_connection::start(*new echo(std::move(accepted), next_home())); }
//
// Its memory is the object alone: no frame, no storage of a wait. It comes from the heap, because the classes of frame
// memory are wide, and connections are many. Its runs are on one
// executor, one at a time.
//
// A run has a context of its own, with the name of the options and what the server's scope inherits. So code of the
// user that is called by a run has slots, and spawn() without a target spawns into the scope, as in a connection's
// coroutine.
//
// # States
//
//   state      meaning                                         left by
//   begun      created, and not run yet                        start(): posts the first run
//   served     proceed() is called for each notify()           end(), a stop of the server, lend()
//   lent       a coroutine uses the stream                     give_back(), by the coroutine
//   ending     the steps of readiness_job.hpp, "The end"       the last run: destroyed
//
// # Lent connections
//
// If a request has to wait, the job lends its stream to a coroutine of the server's scope: lend(), then spawn(). The
// coroutine reads and writes; the job watches the end of the peer, by watch_peer(). proceed() is called for each
// notify() meanwhile. The last thing that the coroutine does with the connection is give_back(), also if it is killed,
// or never begins: its callable has an object for it. The next run finds is_lent() false, and `returned` in its
// reasons.
//
// The server's scope stops the coroutine, so a stop does not end a connection that is lent. The run of the return sees
// was_stopped().
//
// If the coroutine moves the stream away (an upgrade), then the job must not be linked to it. The coroutine calls
// ask_handover() and waits. The job calls release_stream(), again in later runs until it is true, and resumes it.
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
// If a run took a flag of the coroutine for its return, then it could destroy the connection before the coroutine
// notifies it. Prevented: the return is a reason of the notify() itself, and the coroutine touches nothing after that.
//
// # Access
//
// notify(), give_back(), ask_handover(): any thread. All else: a run.
#pragma once
#include <hocket/base/memory_source.hpp>
#include <hocket/io/seam/open_descriptor.hpp>
#include <hocket/net/detail/connection_phase.hpp>
#include <hocket/net/detail/server_core.hpp>
#include <optional>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class job_connection : public readiness_job,
                       public server_core::connection,
                       public phased_connection,
                       public from_memory_source {
 public:
  // By server_core::begin(). The runs are on `home`: server_core::next_home(). Throws std::bad_alloc in conforming
  // mode.
  job_connection(server_core::connection&& accepted, executor& home);
  job_connection(const job_connection&) = delete;
  job_connection& operator=(const job_connection&) = delete;

  // The first run is posted. Throws std::bad_alloc, if the server accepts nothing more: then it is destroyed.
  static void start(job_connection& created);

  // By the coroutine that has the connection.
  void give_back() noexcept { notify(job_reason::returned); }
  void ask_handover() noexcept { notify(job_reason::handover); }

 protected:
  virtual ~job_connection();

  // Reads and writes until a call would block, then waits by the functions below, or calls end(). `reasons`:
  // job_reason.
  virtual void proceed(std::uint32_t reasons) noexcept = 0;

  // The next run is when the stream is readable (a message may begin; the connection is idle until then), readable or
  // writable. False: a call may succeed already. A run may be for nothing: wait again. After an error the connection
  // ends.
  bool wait_idle() noexcept;
  bool wait_readable() noexcept;
  bool wait_writable() noexcept;
  // How the peer has ended; if it has not, the next run is at its end. Without memory for the watch there is no such
  // run. A half-closed peer is reported again by each call; no run follows when it is closed, so look at times.
  std::optional<peer_end> watch_peer() noexcept;
  // A run follows at the end of the peer.
  bool watches_peer() const noexcept { return (linked_ & job_reason::peer_end) != 0; }

  // The connection ends, in this run or in a later one. The stream is destroyed as a handler's: it may linger. `error`
  // counts as that of a handler.
  void end(std::error_code error = {}) noexcept;
  // The same; the server counts the connection as one that it has cancelled.
  void end_cancelled() noexcept;
  // The same, in a catch (...).
  void end_thrown() noexcept;
  bool is_ending() const noexcept { return is_ending_; }

  // From now until give_back() a coroutine has the connection.
  void lend() noexcept { is_lent_ = true; }
  bool is_lent() const noexcept { return is_lent_; }
  // While the connection was lent the server has stopped its connections.
  bool was_stopped() const noexcept { return was_stopped_; }
  // True: the stream may be moved. False: try again in the next run.
  [[nodiscard]] bool release_stream() noexcept;

  // From now on, for at most that time. `rated`: at least 1 KB a second moves meanwhile (connection_phase.hpp). A limit
  // of more than 24 days is none.
  void begin_phase(duration limit, bool rated = false) noexcept;
  using phased_connection::add_moved;
  using phased_connection::end_phase;
  // The phase is over. A run of reason job_reason::late may be for a phase that has ended meanwhile.
  bool is_late() const noexcept;

 private:
  static constexpr duration max_limit = std::chrono::hours(24 * 24);

  static bool run_job(repeating_job& self) noexcept;
  bool run(std::uint32_t reasons) noexcept;
  bool proceed_in_context(std::uint32_t reasons) noexcept;
  bool wait(direction& awaited, std::uint32_t reason) noexcept;
  void unwatch(direction& watched, std::uint32_t reason) noexcept;
  bool has_ended() noexcept;
  void leave() noexcept;
  void begin_end() noexcept;
  static constexpr std::uint32_t directions = job_reason::readable | job_reason::writable | job_reason::peer_end;
  void set_linked(std::uint32_t reasons) noexcept { linked_ = reasons & directions; }

  // In one byte: the next one is for the members of a derived class.
  std::uint8_t linked_ : 3 = 0;  // reasons: of the directions that may hold the job
  bool is_ending_ : 1 = false;
  bool is_idle_ : 1 = false;
  bool is_lent_ : 1 = false;
  bool was_stopped_ : 1 = false;
  bool has_been_phased_ : 1 = false;
};

}}}  // namespace hocket::detail
