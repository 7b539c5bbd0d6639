// The stages of a connection in its pool: the connector, the hooks, the drain and the ping, each a coroutine.
//
//   connect:  connector -> hook on create -> lendable
//   return:   drain, if in doubt -> hook on recycle, if there is one -> idle
//   ping:     ping -> idle
//
// A connector or a hook that returns a task runs as a task, any other as a fiber, as spawn() decides.
#pragma once
#include <hocket/base/seam/platform/unique_ptr.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/pool/detail/connection_pool_core.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// A pooled connection.
template <class T>
concept pooled_connection = std::movable<T> && requires(T& connection, const T& constant) {
  { constant.state() } noexcept -> std::same_as<connection_state>;
  { connection.is_idle() } noexcept -> std::same_as<bool>;
};
template <class T>
concept drainable = requires(T& connection) {
  { connection.drain() } -> std::same_as<task<result<void>>>;
};
template <class T>
concept pingable = requires(T& connection) {
  { connection.ping() } -> std::same_as<task<result<void>>>;
};
template <class T>
concept accepts_session = requires(T& connection) { connection.accept_session(); };

template <class T>
class connection_pool_core_of;

// Something that a job does by a coroutine.
template <class T>
class pool_stage {
 public:
  pool_stage() noexcept = default;
  pool_stage(const pool_stage&) = delete;
  pool_stage& operator=(const pool_stage&) = delete;
  virtual ~pool_stage() = default;
  // Spawns the coroutine. Throws std::bad_alloc; then the job has ended.
  virtual void start(connection_pool_core_of<T>& core, pool_job job) = 0;
};

// The core for a type of connections.
template <class T>
class connection_pool_core_of final : public connection_pool_core {
  struct pooled final : pool_entry {
    explicit pooled(T&& moved) : connection(std::move(moved)) {}
    T connection;
  };

 public:
  connection_pool_core_of(spawn_target& target, const connection_pool_options& options,
                          std::unique_ptr<pool_stage<T>> connector)
      : connection_pool_core(target, options), connector_(std::move(connector)) {}

  static T& connection_of(pool_entry& entry) noexcept { return static_cast<pooled&>(entry).connection; }

  // Once. A connect of the warm-up may be under way.
  void set_create_hook(std::unique_ptr<pool_stage<T>> hook) noexcept {
    expects(!create_hook_owner_, "a second hook on create", "a connection_pool has one", options().name.c_str());
    create_hook_owner_ = std::move(hook);
    // ORDER: release, pairs with the load in end_connector(): the hook is complete.
    create_hook_.store(create_hook_owner_.get(), std::memory_order_release);
    require_hook();
  }
  void set_recycle_hook(std::unique_ptr<pool_stage<T>> hook) noexcept { recycle_hook_ = std::move(hook); }

  // --- the ends of the stages
  void end_connector(pool_job job, result<T> connected) {
    if (!connected) return job.fail(connected.error());
    try {
      job.set_entry(*new pooled(*std::move(connected)));
    } catch (...) {
      return job.fail(error_of_exception());
    }
    // ORDER: acquire, pairs with the store in set_create_hook().
    if (pool_stage<T>* const hook = create_hook_.load(std::memory_order_acquire)) hook->start(*this, std::move(job));
    else end_create(std::move(job));
  }
  void end_hook(pool_job job, std::error_code error) noexcept {
    if (error) return job.fail(error);
    if (job.purpose() != pool_job::kind::connect) return end_return(std::move(job));
    job.entry()->is_prepared = true;
    end_create(std::move(job));
  }
  void end_drain(pool_job job) {
    if (job.purpose() != pool_job::kind::ping && recycle_hook_) recycle_hook_->start(*this, std::move(job));
    else end_return(std::move(job));
  }

 private:
  ~connection_pool_core_of() = default;

  // A connection that is not idle now would fail its first borrower.
  static void end_create(pool_job job) noexcept {
    T& connection = connection_of(*job.entry());
    if constexpr (accepts_session<T>) connection.accept_session();
    if (connection.is_idle()) job.succeed();
    else job.fail(std::make_error_code(std::errc::not_connected));
  }
  static void end_return(pool_job job) noexcept {
    if (connection_of(*job.entry()).state() == connection_state::idle) job.succeed();
  }

  static task<> run_return(connection_pool_core_of* self, pool_job job) {
    T& connection = connection_of(*job.entry());
    try {
      if constexpr (drainable<T>) {
        if (job.purpose() == pool_job::kind::drain) {
          auto drain = connection.drain();
          const result<void> drained = co_await std::move(drain);
          if (!drained || connection.state() != connection_state::idle) co_return;
        }
      }
      if constexpr (pingable<T>) {
        if (job.purpose() == pool_job::kind::ping) {
          auto ping = connection.ping();
          const result<void> answered = co_await std::move(ping);
          if (!answered) co_return;
        }
      }
      self->end_drain(std::move(job));
    } catch (...) {
      static_cast<void>(error_of_exception());
    }
  }

  connection_state state_of(const pool_entry& entry) const noexcept override {
    return static_cast<const pooled&>(entry).connection.state();
  }
  bool looks_idle(pool_entry& entry) noexcept override { return connection_of(entry).is_idle(); }
  bool can_drain() const noexcept override { return drainable<T>; }
  bool can_ping() const noexcept override { return pingable<T>; }
  bool has_recycle_hook() const noexcept override { return recycle_hook_ != nullptr; }
  void destroy(pool_entry& entry) noexcept override { delete &static_cast<pooled&>(entry); }
  void destroy_self() noexcept override { delete this; }

  void start_connect(pool_job job) override { connector_->start(*this, std::move(job)); }
  void start_return(pool_job job) override {
    if (job.purpose() == pool_job::kind::recycle) return recycle_hook_->start(*this, std::move(job));
    static_cast<void>(spawn(target(), options_of("pool drain", options().drain_time),
                            &connection_pool_core_of::run_return, this, std::move(job)));
  }

  const std::unique_ptr<pool_stage<T>> connector_;
  std::unique_ptr<pool_stage<T>> create_hook_owner_, recycle_hook_;  // constant after the first acquire()
  primitive::atomic<pool_stage<T>*> create_hook_{nullptr};           // of create_hook_owner_
};

// A stage that calls F: in a task if F returns one, else in a fiber. `Self` has the call and its end.
template <class T, class F>
class connector_stage final : public pool_stage<T> {
  using returned = std::invoke_result_t<F&>;
  static_assert(std::is_same_v<returned, task<result<T>>> || std::is_same_v<returned, result<T>>,
                "hocket: a connector of a connection_pool<T> is called without arguments, and returns a "
                "task<result<T>>, or (as a fiber) a result<T>");

 public:
  explicit connector_stage(F&& connect) : connect_(std::move(connect)) {}

  void start(connection_pool_core_of<T>& core, pool_job job) override {
    const spawn_options options = core.options_of("pool connect", core.options().connect_time);
    if constexpr (is_task<returned>)
      static_cast<void>(spawn(core.target(), options, &connector_stage::run_task, this, &core, std::move(job)));
    else static_cast<void>(spawn(core.target(), options, in_fiber{this, &core, std::move(job)}));
  }

 private:
  static task<> run_task(connector_stage* self, connection_pool_core_of<T>* core, pool_job job) {
    std::error_code error;
    try {
      auto connect = self->connect_();
      result<T> connected = co_await std::move(connect);
      core->end_connector(std::move(job), std::move(connected));
      co_return;
    } catch (...) {
      error = error_of_exception();
    }
    job.fail(error);
  }
  struct in_fiber {
    connector_stage* self;
    connection_pool_core_of<T>* core;
    pool_job job;
    void operator()() {
      std::error_code error;
      try {
        result<T> connected = self->connect_();
        return core->end_connector(std::move(job), std::move(connected));
      } catch (...) {
        error = error_of_exception();
      }
      job.fail(error);
    }
  };

  F connect_;
};

template <class T, class F>
class hook_stage final : public pool_stage<T> {
  using returned = std::invoke_result_t<F&, T&>;
  static_assert(std::is_same_v<returned, task<result<void>>> || std::is_same_v<returned, result<void>>,
                "hocket: a hook of a connection_pool<T> takes a T&, and returns a task<result<void>>, or (as a fiber) "
                "a result<void>");

 public:
  explicit hook_stage(F&& hook) : hook_(std::move(hook)) {}

  void start(connection_pool_core_of<T>& core, pool_job job) override {
    const bool creates = job.purpose() == pool_job::kind::connect;
    const spawn_options options =
        core.options_of("pool hook", creates ? core.options().connect_time : core.options().drain_time);
    if constexpr (is_task<returned>)
      static_cast<void>(spawn(core.target(), options, &hook_stage::run_task, this, &core, std::move(job)));
    else static_cast<void>(spawn(core.target(), options, in_fiber{this, &core, std::move(job)}));
  }

 private:
  static std::error_code error_of(const result<void>& ended) noexcept {
    return ended ? std::error_code() : ended.error();
  }
  static task<> run_task(hook_stage* self, connection_pool_core_of<T>* core, pool_job job) {
    std::error_code error;
    try {
      auto hook = self->hook_(connection_pool_core_of<T>::connection_of(*job.entry()));
      const result<void> ended = co_await std::move(hook);
      error = error_of(ended);
    } catch (...) {
      error = error_of_exception();
    }
    core->end_hook(std::move(job), error);
  }
  struct in_fiber {
    hook_stage* self;
    connection_pool_core_of<T>* core;
    pool_job job;
    void operator()() {
      std::error_code error;
      try {
        error = error_of(self->hook_(connection_pool_core_of<T>::connection_of(*job.entry())));
      } catch (...) {
        error = error_of_exception();
      }
      core->end_hook(std::move(job), error);
    }
  };

  F hook_;
};

}}}  // namespace hocket::detail
