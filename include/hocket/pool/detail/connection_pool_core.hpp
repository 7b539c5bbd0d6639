// The core of a connection_pool: the state that the pool shares with its leases, waits and coroutines.
//
// # Entries
//
// An entry is a connection of the pool. It is in one place at a time, and size_ counts all:
//
//   idle        in idle_, the entry that was returned last at the back, which is lent first
//   lent        in lent_; the lease owns it
//   connecting  it does not exist yet; an attempt stands for it, in attempts_
//   returning   a job owns it: a drain, a ping, the hook on recycle, or the maintenance that looks at it
//
// Only an entry of connection_state::idle is lent. state() is asked for at each return and at each lending.
//
// # Waiters and attempts
//
// A waiter is in wait_queue_. If there is room, an attempt to connect is made for it: request.attempt and
// attempt.awaited_by point to each other, under the mutex. If the waiter is served by a connection that was returned,
// or leaves, the attempt has no waiter; the next waiter without an attempt adopts it. A connection, from wherever it
// comes, goes to the first waiter in the queue. The error of an attempt goes to the attempt's waiter, or to none.
//
// A wait that another party has ended stays linked until its detach(). Meanwhile an entry may become idle, and a waiter
// may queue behind the ended one. So detach() serves the queue again.
//
// So a waiter ends by a connection, by the error of its own attempt, by its deadline or stop, or by close().
//
// # Failures
//
// After a failed attempt the next attempt begins back_off_ later: 10 ms, and twice as long after each further failure,
// up to 0.8 s, plus up to a quarter at random. Meanwhile one attempt is under way at a time. A success ends this.
//
// # Coroutines
//
// All are daemons of the pool's target: they hold no drain, and end with the target.
//
//   maintenance   one: begins attempts, looks at idle entries about each second, reports long leases
//   jobs          one for each attempt and each return of a connection in doubt
//
// A coroutine owns a token (maintenance_run, pool_job) among its arguments. If the target refuses the spawn, or kills
// the coroutine, the destructor of the token says so: the attempt has failed, the entry is destroyed, the waiters get
// operation_canceled. So no path forgets an entry.
//
// The warm-up may connect before the program sets the hook on create. Then the connection has no hook behind it, and is
// closed: when the hook is set, if it is idle, or else when it becomes available.
//
// The maintenance ends with its target. A loop can run again; so acquire() spawns the maintenance anew if it has ended.
//
// # Lifetime
//
// shares_ counts the pool, each lease, each wait that has begun, and each token. The last one destroys the core. After
// close(), also by the pool's destructor, an entry that is returned is destroyed, and nothing is spawned.
//
// # fork()
//
// In a forked child the pool of the parent is a copy without its threads, and its mutex may be locked. So each function
// asks is_copy() first, and takes no lock then: a wait fails, a lease destroys its entry, the end of a job or of the
// maintenance changes nothing, and the copy is never destroyed.
//
// # Locks
//
// mutex_ guards all fields but the constant ones. Calls of the connection (state() excepted, which reads memory),
// destructors of connections, spawns and posts of grants run without it. An event is set under it.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/metrics.hpp>
#include <hocket/base/random.hpp>
#include <hocket/base/seam/forks.hpp>
#include <hocket/base/seam/list.hpp>
#include <hocket/core/spawn_options.hpp>
#include <hocket/core/spawn_target.hpp>
#include <hocket/core/thread/seam/dump_section.hpp>
#include <hocket/coro/task.hpp>
#include <hocket/pool/connection_state.hpp>
#include <hocket/pool/detail/connection_pool_options.hpp>
#include <hocket/primitive.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/auto_reset_event.hpp>
#include <hocket/sync/event.hpp>
#include <span>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class connection_pool_core;

// A connection of a pool, without its type. The fields are the core's.
struct pool_entry : list_node {
  time_point since{};                      // idle since, or lent since
  time_point expires = time_point::max();  // by max_lifetime
  time_point verified{};                   // by a ping, or by a return
  std::uint64_t round = 0;                 // of the maintenance that looked at it last
  call_site acquired{};                    // of the holder: its acquire()
  std::source_location holder{};           // the place of the holder's spawn; line 0: unknown
  bool is_reported = false;
  bool is_prepared = false;  // the hook on create has ended without an error
};

// A connect under way.
struct pool_attempt : list_node {
  waiter* awaited_by = nullptr;
};

// The part of a wait that the core fills in.
struct pool_request {
  pool_entry* entry = nullptr;
  pool_attempt* attempt = nullptr;
  const std::error_category* category = nullptr;  // of the error; null: no error
  std::int64_t error = 0;

  void fail(std::error_code code) noexcept { category = &code.category(), error = code.value(); }
};
inline pool_request& request_of(waiter& entry) noexcept { return *static_cast<pool_request*>(entry.resource); }

// The duty to end an attempt or a return: a token of the job's coroutine. Move-only.
class pool_job {
 public:
  enum class kind : std::uint8_t { connect, drain, recycle, ping };

  pool_job(connection_pool_core& core, pool_attempt& attempt) noexcept;
  pool_job(connection_pool_core& core, pool_entry& entry, kind purpose) noexcept;
  pool_job(pool_job&& other) noexcept;
  pool_job& operator=(pool_job&&) = delete;
  ~pool_job() { fail(make_error_code(errc::cancelled)); }

  // Ends the job. Further calls do nothing.
  void succeed() noexcept;
  void fail(std::error_code error) noexcept;

  kind purpose() const noexcept { return kind_; }
  // Null: the attempt has no connection yet.
  pool_entry* entry() const noexcept { return entry_; }
  void set_entry(pool_entry& entry) noexcept { entry_ = &entry; }

 private:
  connection_pool_core* core_;  // null: ended, or moved from
  pool_attempt* attempt_;
  pool_entry* entry_;
  kind kind_;
};

// The token of the maintenance.
class maintenance_run {
 public:
  explicit maintenance_run(connection_pool_core& core) noexcept;
  maintenance_run(maintenance_run&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
  maintenance_run& operator=(maintenance_run&&) = delete;
  ~maintenance_run();
  connection_pool_core& core() const noexcept { return *core_; }

 private:
  connection_pool_core* core_;
};

class connection_pool_core : public wait_source, private dump_section {
 public:
  connection_pool_core(spawn_target& target, const connection_pool_options& options);
  connection_pool_core(const connection_pool_core&) = delete;
  connection_pool_core& operator=(const connection_pool_core&) = delete;

  // From now on in the dumps of the target. By the constructor of the pool: a dump calls functions of the whole core.
  void show_in_dumps() noexcept { list_section(*this); }
  void retain() noexcept;
  void release() noexcept;
  // Whether this is a forked child's copy.
  bool is_copy() const noexcept { return forks_ != forks_so_far(); }
  spawn_target& target() const noexcept { return target_; }
  const connection_pool_options& options() const noexcept { return options_; }
  spawn_options options_of(literal_name name, duration limit) const noexcept;

  // --- acquire()
  // Spawns the maintenance, if there is none. Throws std::bad_alloc.
  void ensure_maintenance();
  // False: the caller must wait.
  bool try_acquire(pool_request& request, call_site site) noexcept;
  // Links the waiter, or ends the wait. The wait has a share from then on.
  void begin(suspension& wait, waiter& entry, pool_request& request, call_site site) noexcept;
  void record_holder(pool_entry& entry, call_site site) noexcept;

  // --- the end of a lease
  void give_back(pool_entry& entry) noexcept;
  void discard(pool_entry& entry) noexcept;

  // --- by jobs
  void connected(pool_attempt& attempt, pool_entry& entry) noexcept;
  void connect_failed(pool_attempt& attempt, std::error_code error) noexcept;
  void returned(pool_entry& entry, pool_job::kind purpose) noexcept;
  void dropped(pool_entry& entry, pool_job::kind purpose) noexcept;
  void destroy_unlisted(pool_entry& entry) noexcept { destroy(entry); }

  // --- the pool's own calls
  void close() noexcept;
  void resize(std::size_t limit) noexcept;
  // A hook on create was set: connections without it are closed.
  void require_hook() noexcept;
  connection_pool_statistics statistics() const noexcept;
  // By the list of sources (base/metrics.hpp).
  void report_metrics(metric_visitor& to) const;
  task<shutdown_report> graceful_shutdown(shutdown_options options);

  // --- the maintenance
  task<> maintain(maintenance_run run);
  void maintenance_ended() noexcept;

 protected:
  ~connection_pool_core() = default;

  // --- of the connection's type
  virtual connection_state state_of(const pool_entry& entry) const noexcept = 0;
  virtual bool looks_idle(pool_entry& entry) noexcept = 0;
  virtual bool can_drain() const noexcept = 0;
  virtual bool can_ping() const noexcept = 0;
  virtual bool has_recycle_hook() const noexcept = 0;
  virtual void destroy(pool_entry& entry) noexcept = 0;
  virtual void destroy_self() noexcept = 0;
  // Spawn the job's coroutine. If they throw, the job has ended.
  virtual void start_connect(pool_job job) = 0;
  virtual void start_return(pool_job job) = 0;

 private:
  const char* what() const noexcept override { return "a connection pool"; }
  const char* subject() const noexcept override { return options_.name.c_str(); }
  bool detach(waiter& entry) noexcept override;
  void pass_on(waiter& entry) noexcept override;
  void write(text_writer& out) noexcept override;
  const executor& home() const noexcept override { return home_; }

  using counter = std::uint64_t connection_pool_statistics::*;
  struct lease_report {
    duration time{};
    call_site acquired{};
    std::source_location holder{};
  };

  time_point now() const noexcept { return (options_.clock ? *options_.clock : steady_clock()).now(); }
  counter defect_of(pool_entry& entry, time_point since, time_point present) noexcept;
  pool_entry* pop_lendable(call_site site) noexcept;
  void make_available(pool_entry& entry, time_point since, time_point present, std::size_t& place) noexcept;
  void remove(pool_entry& entry, counter cause, std::size_t& place) noexcept;
  void destroy_surplus(std::size_t limit) noexcept;
  bool begin_return(pool_entry& entry, bool in_doubt) noexcept;
  void start(void (connection_pool_core::*stage)(pool_job), pool_job job) noexcept;

  // --- under mutex_
  void set_holder(pool_entry& entry, call_site site, time_point present) noexcept;
  void begin_ticks(time_point present) noexcept;
  void push_idle(pool_entry& entry, time_point present) noexcept;
  grant serve(pool_entry& entry) noexcept;
  void serve_idle(grants& served) noexcept;
  void unlink_attempt(waiter& entry) noexcept;
  void fail_waiters(grants& ended, std::error_code error) noexcept;
  bool may_grow() const noexcept { return !is_closed_ && size_ < limit_; }
  void wake_for_attempt() noexcept;
  void notify_removed() noexcept;
  waiter* first_without_attempt() noexcept;
  void record_failure(std::error_code error, time_point present) noexcept;
  connection_pool_statistics numbers_now() const noexcept;
  std::int64_t random_below(std::int64_t bound) noexcept;
  time_point end_of_life(time_point present) noexcept;

  // --- by the maintenance (src/pool/maintenance.cpp)
  void run_maintenance() noexcept;
  bool begin_round(time_point present) noexcept;
  void end_round(time_point present) noexcept;
  duration time_to_sleep() noexcept;
  pool_attempt* next_attempt(time_point present) noexcept;
  void start_attempts() noexcept;
  void check_idle(time_point present) noexcept;
  pool_entry* take_unchecked(time_point present) noexcept;
  void check_entry(pool_entry& entry, time_point present) noexcept;
  duration copy_leases(std::span<lease_report> leases, time_point present) noexcept;
  bool next_long_lease(time_point present, lease_report& report) noexcept;
  void report_leases(time_point present) noexcept;

  static constexpr duration recent{std::chrono::milliseconds(10)};  // then an idle connection is lent without a look
  static constexpr duration tick{std::chrono::seconds(1)};
  static constexpr duration first_back_off{std::chrono::milliseconds(10)};
  static constexpr duration last_back_off{std::chrono::milliseconds(800)};

  // Constant after construction.
  spawn_target& target_;
  const executor& home_;  // as an address: the core may outlive it
  const connection_pool_options options_;
  const std::uint32_t forks_ = forks_so_far();  // at construction

  primitive::atomic<std::size_t> shares_{1};
  auto_reset_event work_;  // for the maintenance
  event is_empty_;         // closed, and no entry is lent or returning

  mutable primitive::thread_mutex mutex_;
  // Guarded by mutex_:
  wait_queue wait_queue_;
  list<pool_entry> idle_, lent_;
  list<pool_attempt> attempts_;
  std::size_t limit_, size_ = 0;
  std::size_t idle_count_ = 0, lent_count_ = 0, connecting_ = 0, returning_ = 0, draining_ = 0, waiters_ = 0;
  std::size_t orphans_ = 0;  // attempts without a waiter
  bool is_closed_ = false;
  bool needs_hook_ = false;                       // only prepared entries are lent
  primitive::atomic<bool> is_maintained_{false};  // changed under mutex_
  bool ticks_ = false;                            // the maintenance has a timer for next_check_
  time_point next_check_{};
  std::uint64_t round_ = 0;
  duration back_off_{};  // zero: the last attempt succeeded
  time_point next_try_{};
  random_engine random_;
  connection_pool_statistics counts_{};

  metric_source metrics_;  // the last member: a report reads the others
};

// The error of the exception that is handled now. Rethrows a kill.
std::error_code error_of_exception();

}}}  // namespace hocket::detail
