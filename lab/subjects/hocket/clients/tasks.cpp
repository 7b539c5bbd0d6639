// Tasks of one loop on a client for coroutines. LAB_CLIENT is the header by which they connect and ask.
#include <hocket/coro/spawn.hpp>
#include <hocket/pool/connection_pool.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/latch.hpp>

#include LAB_CLIENT

namespace {

using hocket::task;

class tasks {
 public:
  explicit tasks(const lab::client_workload& workload)
      : what_(workload),
        idle_(loop_, [this] { return lab::open(what_); }, {.limit = workload.n}),
        opened_(workload.n) {}

  void ask_all(std::size_t times) {
    for (std::size_t i = 0; i < what_.n; ++i) spawn(loop_, &tasks::ask_often, this, i, times);
    loop_.run();
  }

 private:
  task<> ask_often(std::size_t i, std::size_t times) {
    for (std::size_t k = 0; k < times; ++k) {
      const std::string number = std::to_string(i);
      if (what_.connects()) {
        auto own = (co_await lab::open(what_)).value();
        co_await lab::ask(what_, own, number);
        continue;
      }
      auto lent = (co_await idle_.acquire()).value();
      // The first time each has a connection of its own before one asks.
      if (!opened_.is_ready()) co_await opened_.arrive_and_wait();
      co_await lab::ask(what_, *lent, number);
    }
  }

  const lab::client_workload what_;
  hocket::loop loop_;
  hocket::connection_pool<lab::connection> idle_;
  hocket::latch opened_;
};

}  // namespace

int main(int argc, char** argv) { return lab::run_clients<tasks>(LAB_SYSTEM, argc, argv); }
