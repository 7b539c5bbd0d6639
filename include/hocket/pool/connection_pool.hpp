// connection_pool: a limited number of connections to one server, made and looked after by the pool.
//
//   connection_pool<pg::connection> db(rt, pg::connector("host=db dbname=app"), {.limit = 20});
//   ...
//   auto lent = co_await or_return(within(1s, db.acquire()));       // a working connection, or an error
//   auto rows = co_await or_return(lent->query("select 1"));
//   co_return rows;                                                 // the connection returns to the pool here
//
// The spawn target (a runtime, loop or scope) runs the pool's coroutines. The connector is called without arguments. It
// returns a task<result<T>>, or a result<T>: then it runs as a fiber (include <hocket/fiber/spawn.hpp>), for libraries
// that block and hook::hooked().
//
// T is movable and has
//   connection_state state() const noexcept;     // by its own bookkeeping, without a system call
//   bool is_idle() noexcept;                     // state() is idle, and one look at the socket finds no end
//   task<result<void>> drain();                  // optional: makes a connection in doubt idle, or fails
//   task<result<void>> ping();                   // optional: whether the server answers
//   void accept_session();                       // optional: called for a new connection, after the hook on create
//
// Guarantees.
//   - A connection is lent only if its state is idle. A connection that is returned in another state is in doubt:
//     drain() makes it idle in a coroutine of the pool, or it is closed. So no borrower gets an answer, a transaction
//     or a session of another one.
//   - A connection that was idle for 10 ms or more is looked at before it is lent, and about each second. If the server
//     has closed it, it is closed, and no borrower sees it. The borrow and return of a connection that was idle for
//     less make no system call.
//   - acquire() gives a connection or an error, never an empty lease. The error of a failed connect goes to the waiter
//     for which the pool has connected.
//   - First come, first served. The connection used last is lent first.
//   - A connect belongs to the pool. If its waiter leaves, the connection goes to the next waiter, or becomes idle.
//   - While connects fail, one is tried at a time: after 10 ms, and after pauses that grow to 1 s.
//
// Errors of acquire(): of the connector; the code of an exception of the connector or of a hook (bad_alloc:
// not_enough_memory; others without a code: state_not_recoverable); timed_out, if the connect took longer than
// connect_time; not_connected, if the connector gave a connection that is not idle; errc::closed after close();
// operation_canceled, if the spawn target ends; connection_aborted in a forked child, where the pool is the parent's.
//
// Cancellation. A cancel, a deadline and a kill end the wait like any other wait; then nothing was taken.
//
// Thread safety. The pool: any thread. One thread at a time uses a lease.
//
// fork(): in the child a pool of the parent connects, drains and reports nothing. A lease closes its connection's
// descriptor at its end, and sends nothing. Other connections of the pool stay open there. Make another pool.
//
// Lifetime. Leases, drains and connects share the pool's state, and may outlive it: then their connections are closed.
// The spawn target outlives the pool. The pool outlives the waits for it. options.clock outlives the leases.
#pragma once
#include <hocket/core/spawn/seam/spawn.hpp>
#include <hocket/pool/detail/pool_stages.hpp>
#include <hocket/primitive.hpp>

namespace hocket { inline namespace HOCKET_ABI {

template <class T>
class connection_pool {
  static_assert(detail::pooled_connection<T>,
                "hocket: a pooled connection is movable, and has connection_state state() const noexcept and bool "
                "is_idle() noexcept");
  using core = detail::connection_pool_core_of<T>;
  class acquiring;

 public:
  class lease;

  // A limit of 0 is fatal. Throws std::bad_alloc, and the exceptions of moving the connector.
  template <detail::spawnable_on Where, class Connector>
  connection_pool(Where& target, Connector connect, const connection_pool_options& options = {})
      : core_(new core(detail::target_of(target), options,
                       std::make_unique<detail::connector_stage<T, Connector>>(std::move(connect)))) {
    core_->show_in_dumps();
    try {
      core_->ensure_maintenance();
    } catch (...) {
      end();
      throw;
    }
  }
  connection_pool(const connection_pool&) = delete;
  connection_pool& operator=(const connection_pool&) = delete;
  // close().
  ~connection_pool() { end(); }

  // Called for each new connection, before it is lent: sets up its session. An error fails the connect. A hook returns
  // a task<result<void>>, or a result<void>: then it runs as a fiber. Once, before the first acquire(). Connections
  // that the warm-up has made before are closed.
  template <class Hook>
  void on_create(Hook hook) {
    core_->set_create_hook(std::make_unique<detail::hook_stage<T, Hook>>(std::move(hook)));
  }
  // Called for each connection that was returned, after its drain: resets its session (DISCARD ALL). An error closes
  // the connection. Before the first acquire().
  template <class Hook>
  void on_recycle(Hook hook) {
    core_->set_recycle_hook(std::make_unique<detail::hook_stage<T, Hook>>(std::move(hook)));
  }

  // Waits for a connection: result<lease>. Throws std::bad_alloc.
  [[nodiscard]] primitive::operation<acquiring> acquire(call_site site = this_call_site()) {
    core_->ensure_maintenance();
    return primitive::operation<acquiring>(std::in_place, site, *core_, site);
  }

  // Waiters, present and later, get errc::closed. Idle connections are closed; others when they are returned.
  void close() noexcept { core_->close(); }
  // Changes the limit; at least 1. Surplus connections are closed: idle ones now, others when they are returned.
  void resize(std::size_t limit) noexcept { core_->resize(limit); }
  connection_pool_statistics statistics() const noexcept { return core_->statistics(); }

  // close(), and waits until all leases and drains have ended, for options.drain at most. No connect is waited for: no
  // waiter needs it. The report counts leases: `drained` have ended, `remaining` have not. For service::add(). Throws
  // std::bad_alloc.
  [[nodiscard]] task<shutdown_report> graceful_shutdown(shutdown_options options = {}) {
    return core_->graceful_shutdown(options);
  }

 private:
  void end() noexcept {
    core_->close();
    core_->release();
  }

  core* const core_;
};

// The right to use a connection. Move-only. A move from the lease, release() and discard() end it. A lease that has
// ended is false, and must not be used.
template <class T>
class [[nodiscard]] connection_pool<T>::lease {
 public:
  lease() noexcept = default;
  lease(lease&& other) noexcept
      : core_(std::exchange(other.core_, nullptr)), entry_(std::exchange(other.entry_, nullptr)) {}
  lease& operator=(lease&& other) noexcept {
    lease old(std::move(other));
    std::swap(core_, old.core_);
    std::swap(entry_, old.entry_);
    return *this;
  }
  ~lease() { release(); }

  explicit operator bool() const noexcept { return entry_ != nullptr; }
  T& operator*() const noexcept { return *get(); }
  T* operator->() const noexcept { return get(); }
  T* get() const noexcept {
    detail::expects(entry_ != nullptr, "a lease that has ended was used", "acquire() another one");
    return &core::connection_of(*entry_);
  }

  // Ends the lease; the connection returns to the pool.
  void release() noexcept {
    if (!entry_) return;
    core_->give_back(*std::exchange(entry_, nullptr));
    std::exchange(core_, nullptr)->release();
  }
  // Ends the lease, and closes the connection.
  void discard() noexcept {
    if (!entry_) return;
    core_->discard(*std::exchange(entry_, nullptr));
    std::exchange(core_, nullptr)->release();
  }

 private:
  friend class connection_pool;
  lease(core& shared, detail::pool_entry& entry) noexcept : core_(&shared), entry_(&entry) { shared.retain(); }

  core* core_ = nullptr;
  detail::pool_entry* entry_ = nullptr;
};

template <class T>
class connection_pool<T>::acquiring {
 public:
  using value_type = lease;
  acquiring(core& source, call_site site) noexcept : core_(&source), site_(site) {}
  bool try_now() noexcept { return core_->try_acquire(request_, site_); }
  void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    shared_ = core_;
    core_->begin(wait, entry, request_, site_);
  }
  result<lease> take() noexcept {
    if (!request_.entry) return failure(std::error_code(static_cast<int>(request_.error), *request_.category));
    detail::pool_entry& entry = *std::exchange(request_.entry, nullptr);
    if (shared_) core_->record_holder(entry, site_);
    return lease(*core_, entry);
  }
  void resumed() noexcept {
    if (shared_) std::exchange(shared_, nullptr)->release();
  }

 private:
  core* core_;
  core* shared_ = nullptr;  // has a share: begin() was called
  call_site site_;
  detail::pool_request request_;
};

}}  // namespace hocket
