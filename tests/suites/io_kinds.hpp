// Tasks, fibers and threads that wait for I/O, on loops and runtimes by the machine's clock: kinds for the suites of
// io. With the system in it nobody knows when everything has settled, so a test runs until what it started has ended:
//
//   Kind world;
//   auto reader = world.start(read, ...);     // as in world.hpp
//   world.finish();                            // until all have ended
//   CHECK(world.ended(reader) == fate::ended);
//
// What must come in an order waits for it. A test that hangs is ended by the deadline of its program.
#pragma once
#include <hocket/core/sync_wait.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>

#include "suites/started.hpp"
#include "support/sockets.hpp"

#include <doctest/doctest.h>
#include <mutex>
#include <vector>

namespace hocket_test {

// The connections of a test: the system's. A world takes them because others have a clock.
struct system_wires {
  static stream_pair connected(int room = 0) { return hocket_test::connected(room); }
  static stream_pair piped() { return hocket_test::piped(); }
};

template <class Place>
class io_world {
 public:
  using wires = typename Place::wires;

  io_world() = default;
  explicit io_world(wires& net) : place_(net) {}
  io_world(const io_world&) = delete;
  io_world& operator=(const io_world&) = delete;
  ~io_world() {
    for (auto& one : all_) one->handle.kill();
    finish();
    for (auto& one : all_) CHECK(one->done());
  }
  void finish() {
    for (std::size_t i = 0; i < all_.size(); ++i) place_.wait_for(all_[i]->handle);
  }
  void wait_for(int id) { place_.wait_for(at(id).handle); }
  void cancel(int id) { at(id).handle.cancel(); }
  void kill(int id) { at(id).handle.kill(); }
  fate ended(int id) { return at(id).ended(); }
  auto& place() { return place_.where; }

 protected:
  template <class Body, class Run>
  int add(Run run, std::unique_ptr<started_body<Body>> one) {
    std::lock_guard guard(mutex_);
    one->handle = hocket::spawn(place_.where, hocket::spawn_options{.migratable = Place::migratable}, run, one.get());
    all_.push_back(std::move(one));
    return static_cast<int>(all_.size()) - 1;
  }
  started& at(int id) {
    std::lock_guard guard(mutex_);
    return *all_[static_cast<std::size_t>(id)];
  }

 private:
  Place place_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<started>> all_;
};

struct io_loop {
  using wires = system_wires;
  static constexpr bool migratable = false;
  io_loop() = default;
  explicit io_loop(wires&) {}
  void wait_for(hocket::join_handle<>& handle) { where.run_until(handle); }
  hocket::loop where;
};

template <std::size_t Workers, bool Migratable = false>
struct io_runtime {
  using wires = system_wires;
  static constexpr bool migratable = Migratable;
  io_runtime() = default;
  explicit io_runtime(wires&) {}
  static void wait_for(hocket::join_handle<>& handle) {
    if (!handle.done()) static_cast<void>(hocket::sync_wait(handle.join()));
  }
  hocket::runtime where{{.workers = Workers}};
};

using io_tasks = of_tasks<io_world<io_loop>>;
using io_fibers = of_fibers<io_world<io_loop>>;
using io_runtime_tasks = of_tasks<io_world<io_runtime<1>>>;
using io_workers_tasks = of_tasks<io_world<io_runtime<4>>>;
using io_workers_fibers = of_fibers<io_world<io_runtime<2>>>;
using io_migrants = of_fibers<io_world<io_runtime<2, true>>>;

}  // namespace hocket_test
