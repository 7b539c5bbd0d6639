// service: ends all parts of a program in order, on a signal, and reports the coroutines that it had to stop.
//
//   int main() {
//     signal_set ends{SIGTERM, SIGINT};  // first of all: a signal during the start ends the service, too
//     runtime rt;
//     database db;
//     auto server = tcp::serve(rt, "[::]:7000", serve_client, std::ref(db)).value();
//     spawn(rt, {.name = "statistics", .daemon = true}, report_each_minute);
//     service all(rt);
//     all.add(server);
//     all.add("database", [&]() -> task<> { co_await db.flush(); });
//     const service_report report = all.run_until(ends, {.drain = 10s});
//     std::fputs(report.to_string().c_str(), stderr);
//     return report.exit_code();
//   }
//
// # The end
//
//   1. The parts end one after the other, in the order in which they were added. A server ends by its
//      graceful_shutdown(), another part by its callable.
//   2. The runtime ends by its shutdown(): it drains the other coroutines, cancels the daemons, cancels and kills.
//   3. The service counts the calls in the pools of threads that have not returned. These calls cannot be stopped.
//
// All parts together have the time `drain` of the options: a part gets the time that the parts before it have not used.
// The times `cancel` and `kill` are for each part. So the whole takes at most drain + n * (cancel + kill) for n parts
// and the runtime, plus the time of the callables, which the service does not limit: a callable uses within().
//
// Errors. If a part ends by an exception, its report has the exception, and the next part follows. run_until() throws
// the exceptions of signal_set, and std::bad_alloc; then it may be called again.
//
// Thread safety. end(): any thread, also in a coroutine. All other members: one thread at a time.
#pragma once
#include <hocket/base/seam/literal_name.hpp>
#include <hocket/base/seam/platform/unique_ptr.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/runtime/seam/coroutine_snapshot.hpp>
#include <exception>
#include <initializer_list>
#include <string>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI {

class blocking_pool;
class signal_set;

// The result of a service's end.
struct service_report {
  struct part {
    std::string name;
    shutdown_report report{};    // of a pool of threads: `remaining` calls have not returned
    std::exception_ptr error{};  // if the end of the part has thrown
  };

  int signal = 0;           // 0: end()
  std::vector<part> parts;  // in the order of their ends; the runtime is behind the added parts
  shutdown_list stopped;    // of all parts

  // 0: no coroutine was killed or left, and no part has failed; else 1.
  int exit_code() const noexcept;
  // Several lines of text: the counts of each part, and each coroutine that was cancelled, killed or left, with its
  // spawn site. Cancelled daemons are omitted, because each shutdown cancels them.
  std::string to_string() const;
};

namespace detail {
// A part with an awaitable shutdown, as tcp::server.
template <class Part>
concept shuts_down_gracefully = requires(Part& part, shutdown_options options) {
  { part.graceful_shutdown(options) } -> std::same_as<task<shutdown_report>>;
};
}  // namespace detail

class service {
 public:
  // The runtime outlives the service, and so do all parts. Throws std::bad_alloc.
  explicit service(runtime& rt);
  template <class Other>
  explicit service(Other&) {
    static_assert(std::is_same_v<Other, runtime>,
                  "hocket: a service ends a runtime; for one thread: runtime rt({.workers = 1})");
  }
  service(const service&) = delete;
  service& operator=(const service&) = delete;
  ~service();

  // Adds a server. Throws std::bad_alloc, as the other functions add().
  template <detail::shuts_down_gracefully Part>
  void add(Part& server, literal_name name = "server") {
    add_part(std::make_unique<added_server<Part>>(name, server));
  }
  // Adds a part. Stores `end`, a callable that returns a task. The part has ended when the task has ended.
  template <class F>
  void add(literal_name name, F end) {
    static_assert(std::is_same_v<std::invoke_result_t<F&>, task<>>,
                  "hocket: the end of a part is a callable that returns task<>: an error leaves it as an exception, by "
                  "or_throw()");
    add_part(std::make_unique<added_end<F>>(name, std::move(end)));
  }
  template <class Part>
    requires(!detail::shuts_down_gracefully<Part> && !std::is_same_v<blocking_pool, Part>)
  void add(Part&) {
    static_assert(
        detail::shuts_down_gracefully<Part>,
        "hocket: service::add() takes a server, not the result of tcp::serve(): all.add(*server); and another "
        "part with a name and a callable that ends it");
  }
  // Adds a pool of threads of the program. The report counts its unfinished calls after the runtime's end.
  void add(blocking_pool& threads, literal_name name = "threads");

  // Waits until the process receives one of the signals, or for end(), and ends all parts. Call it on a plain
  // thread, once. A signal from before the call is received by a set that was made before.
  service_report run_until(std::initializer_list<int> signals, const shutdown_options& options = {});
  service_report run_until(signal_set& signals, const shutdown_options& options = {});
  // Ends the present or the next wait of run_until().
  void end() noexcept;

 private:
  struct added_part {
    explicit added_part(literal_name part_name) noexcept : name(part_name) {}
    virtual ~added_part() = default;
    virtual task<shutdown_report> run(shutdown_options options) = 0;
    const literal_name name;
  };
  template <class Part>
  struct added_server final : added_part {
    added_server(literal_name part_name, Part& part) noexcept : added_part(part_name), server(part) {}
    task<shutdown_report> run(shutdown_options options) override { return server.graceful_shutdown(options); }
    Part& server;
  };
  template <class F>
  struct added_end final : added_part {
    added_end(literal_name part_name, F&& part) : added_part(part_name), end(std::move(part)) {}
    task<shutdown_report> run(shutdown_options) override {
      co_await end();
      co_return shutdown_report{};
    }
    F end;
  };
  struct state;
  void add_part(std::unique_ptr<added_part> part);
  int wait_for(signal_set& signals);
  void end_part(added_part& part, const shutdown_options& options, service_report& report);

  std::unique_ptr<state> state_;
};

}}  // namespace hocket
