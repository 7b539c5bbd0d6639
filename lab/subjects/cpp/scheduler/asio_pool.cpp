// Boost.Asio's thread_pool: post() from outside, and its C++20 coroutines, for which a yield is a post to the pool,
// awaited. The executor's own type and `deferred` are used as in ../asio_awaitable.cpp; here are threads.
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include "scheduler.hpp"

namespace {

namespace asio = boost::asio;
using executor = asio::thread_pool::executor_type;
using coroutine = asio::awaitable<void, executor>;
using lab::load;

coroutine yielding(executor on, lab::gate& gate, std::size_t k) {
  gate.arrive();
  while (!gate.is_open()) co_await asio::post(on, asio::deferred);
  for (; k; --k) co_await asio::post(on, asio::deferred);
  gate.leave();
}

void yields(const char* system, const load& r) {
  asio::thread_pool pool(r.workers);
  lab::gate gate;
  const double ns = lab::median_of_rounds(r.budget_ns, [&](std::size_t k) {
    gate.close(r.count);
    for (std::size_t i = 0; i < r.count; ++i) {
      asio::co_spawn(pool.get_executor(), yielding(pool.get_executor(), gate, k), asio::detached);
    }
    return gate.wait();
  });
  r.emit_of(system, "yields", "ns", ns / static_cast<double>(r.count));
}

void post_outside(const char* system, const load& r) {
  asio::thread_pool pool(r.workers);
  lab::post_outside(system, r, [&](lab::countdown& jobs) { asio::post(pool, [&jobs] { jobs.done(); }); });
}

void wake(const char* system, const load& r) {
  asio::thread_pool pool(r.workers);
  lab::wake(system, r, [&](double& ran) { asio::post(pool, [&ran] { lab::note_now(ran); }); });
}

void idle(const char* system, const load& r) {
  asio::thread_pool pool(r.workers);
  lab::idle(system, r);
}

constexpr lab::named_load loads[] = {
    {"yields", yields},
    {"post_outside", post_outside},
    {"wake", wake},
    {"idle", idle},
};

}  // namespace

int main(int argc, char** argv) { return lab::run_load(LAB_SYSTEM, argc, argv, loads); }
