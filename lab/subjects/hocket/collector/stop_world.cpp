// hocket::gc::stop_world, from its call until it calls back, by a plain thread that is registered and has slept before.
//
//   stop_world       n workers compute, each in a coroutine that polls gc::safepoint()
//   stop_world_idle  n fibers wait, and both workers sleep
#include <hocket/core/sync_wait.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/gc/world.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/event.hpp>

#include <atomic>
#include <string>
#include <thread>

#include "harness.hpp"

namespace {

using namespace std::chrono_literals;

constexpr std::size_t sleeping_workers = 2;

hocket::runtime_options registered(std::size_t workers) {
  return {.workers = workers,
          .on_start = [](std::size_t) { hocket::gc::enter_thread(); },
          .on_stop = [](std::size_t) { hocket::gc::leave_thread(); }};
}

// A stop, again and again.
void emit_stops(const lab::request& r, const std::string& metric) {
  std::vector<double> all;
  for (const double end = lab::now_ns() + 10 * r.budget_ns;
       all.size() < 9 || (all.size() < 999 && lab::now_ns() < end);) {
    hocket::gc::native([] { std::this_thread::sleep_for(500us); });
    const double begin = lab::now_ns();
    double called = 0;
    hocket::gc::stop_world([&](std::span<const hocket::stopped_thread>) { called = lab::now_ns(); });
    all.push_back((called - begin) / 1e3);
  }
  lab::emit(LAB_SYSTEM, metric.c_str(), r.n, "us", lab::median(all));
  lab::emit(LAB_SYSTEM, (metric + "_worst").c_str(), r.n, "us", *std::max_element(all.begin(), all.end()));
}

void computing(const lab::request& r) {
  hocket::runtime rt(registered(r.n));
  std::atomic<bool> over{false};
  std::atomic<std::size_t> begun{0};
  std::vector<hocket::join_handle<void>> all;
  for (std::size_t i = 0; i < r.n; ++i)
    all.push_back(hocket::spawn(rt, [&] {
      ++begun;
      volatile std::uint64_t sum = 0;
      while (!over) {
        for (std::uint64_t k = 0; k < 100; ++k) sum = sum + k * k;
        hocket::gc::safepoint();
      }
    }));
  const hocket::gc::thread_scope scope;
  hocket::gc::native([&] {
    while (begun != r.n) std::this_thread::yield();
  });
  emit_stops(r, "stop_world");
  over = true;
  hocket::gc::native([&] {
    for (auto& one : all) hocket::sync_wait(one);
  });
}

void idle(const lab::request& r) {
  hocket::runtime rt(registered(sleeping_workers));
  hocket::event end;
  std::atomic<std::size_t> waiting{0};
  std::vector<hocket::join_handle<void>> all;
  for (std::size_t i = 0; i < r.n; ++i)
    all.push_back(hocket::spawn(rt, {.stack_size = r.stack}, [&] {
      ++waiting;
      static_cast<void>(hocket::await(end.wait()));
    }));
  const hocket::gc::thread_scope scope;
  hocket::gc::native([&] {
    while (waiting != r.n) std::this_thread::yield();
    std::this_thread::sleep_for(20ms);  // the workers fall asleep
  });
  emit_stops(r, "stop_world_idle");
  end.set();
  hocket::gc::native([&] {
    for (auto& one : all) hocket::sync_wait(one);
  });
}

}  // namespace

int main(int argc, char** argv) {
  const lab::request r = lab::parse(argc, argv);
  if (r.workload == "stop_world") computing(r);
  else if (r.workload == "stop_world_idle") idle(r);
  else lab::fail("this subject does not know that workload");
  return 0;
}
