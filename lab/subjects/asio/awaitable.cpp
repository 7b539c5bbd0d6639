// Boost.Asio's C++20 coroutines: each turn is a post to the io_context, awaited. Everything that its documentation
// names for programs of one thread is used: BOOST_ASIO_DISABLE_THREADS, the concurrency hint that takes all locks away,
// the io_context's own executor type instead of any_io_executor, and `deferred`, which makes no coroutine of the
// operation (use_awaitable does).
//
// Coroutines are created from outside, since co_spawn from a handler would run them at once. Nothing is kept of one
// that has ended. The page `tasks` has its awaitables without posts: each awaits others (tasks/awaits.hpp).
#define BOOST_ASIO_DISABLE_THREADS
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "scheduled.hpp"
#include "tasks/awaits.hpp"

namespace {

namespace asio = boost::asio;
using executor = asio::io_context::executor_type;
using coroutine = asio::awaitable<void, executor>;

[[gnu::noinline]] coroutine life(executor on, lab::turns& turns, lab::line& mine, bool first) {
  ++mine.count;
  co_await asio::post(on, asio::deferred);
  if (first) {
    while (std::size_t k = turns.next()) {
      for (; k; --k) {
        ++mine.count;
        co_await asio::post(on, asio::deferred);
      }
    }
  }
  while (mine.count < turns.limit) {
    ++mine.count;
    co_await asio::post(on, asio::deferred);
  }
}

class scheduler {
 public:
  scheduler(std::size_t, std::size_t) {}

  template <class F>
  void inside(F&& f) {
    f();
  }
  void create(std::size_t i, lab::turns& turns, lab::line& mine) {
    asio::co_spawn(context_, life(context_.get_executor(), turns, mine, i == 0), asio::detached);
  }
  void round(std::size_t n) {
    context_.restart();
    for (; n; --n) context_.poll_one();
  }
  void run() {
    context_.restart();
    context_.run();
  }
  void drop(std::size_t) {}

 private:
  asio::io_context context_{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE};
};

struct kind {
  template <class T>
  using task = asio::awaitable<T, executor>;
  using root = task<std::uint64_t>;

  static std::uint64_t run(root body) {
    asio::io_context context{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE};
    std::uint64_t given = 0;
    asio::co_spawn(context, std::move(body), [&given](std::exception_ptr failure, std::uint64_t value) {
      if (failure) lab::fail("an awaitable threw");
      given = value;
    });
    context.run();
    return given;
  }
  template <class T>
  static task<T>&& awaited(task<T>& t) {
    return std::move(t);
  }
  template <class T>
  static task<T>&& passing(task<T>& t) {
    return std::move(t);
  }
};

}  // namespace

int main(int argc, char** argv) {
  lab::request r = lab::parse(argc, argv);
  if (auto status = lab::run_scheduled<scheduler>(LAB_SYSTEM, r)) return *status;
  if (auto status = lab::awaits_page<kind>{LAB_SYSTEM, r}.run()) return *status;
  lab::fail("this subject does not know that workload");
}
