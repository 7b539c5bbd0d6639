// Hooked fibers of one loop that call a blocking client. LAB_CLIENT is the client's header.
#include <hocket/core/join_handle.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/hook/hook.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/pool.hpp>

#include LAB_CLIENT

namespace {

class fibers {
 public:
  explicit fibers(const lab::client_workload& what) : what_(what), idle_({.limit = what.n}) { lab::client::begin(); }
  void ask_all(std::size_t times) {
    for (std::size_t i = 0; i < what_.n; ++i)
      spawn(loop_, {.stack_size = what_.stack}, hocket::hook::hooked([this, i, times] {
              for (std::size_t k = 0; k < times; ++k) ask(i);
            }));
    loop_.run();
  }

 private:
  void ask(std::size_t number) {
    if (what_.connects()) {
      lab::client(what_).ask(number);
      return;
    }
    auto lent = hocket::await(idle_.borrow()).value();
    if (!lent) lent.emplace(what_);
    lent->ask(number);
  }

  const lab::client_workload what_;
  hocket::loop loop_;
  hocket::pool<lab::client> idle_;
};

}  // namespace

int main(int argc, char** argv) { return lab::run_clients<fibers>(LAB_SYSTEM, argc, argv); }
