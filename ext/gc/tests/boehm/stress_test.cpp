// Coroutines that allocate, migrate, are born and die on one to four workers, while one thread collects again and
// again. Each object carries a canary; libgc gives a dead one's memory to the next, so a lost root shows as a wrong
// canary.
#include <hocket/core/yield.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/task.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/call_on_stack.hpp>
#include <hocket/fiber/coroutine.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/channel.hpp>

#include "herd.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <thread>
#include <vector>

using namespace hocket;

namespace {

struct node {
  node* children[2];
  std::size_t canary;
  std::uintptr_t rest[3];
};

std::atomic<std::size_t> broken{0};

node* tree(int depth, std::size_t canary) {
  auto* const created = static_cast<node*>(GC_MALLOC(sizeof(node)));
  created->canary = canary;
  if (depth == 0) return created;
  created->children[0] = tree(depth - 1, canary);
  created->children[1] = tree(depth - 1, canary);
  return created;
}
std::size_t count(const node* at, std::size_t canary) {
  if (!at) return 0;
  if (at->canary != canary) {
    ++broken;
    return 0;
  }
  return 1 + count(at->children[0], canary) + count(at->children[1], canary);
}
std::atomic<std::size_t> steps{0};

void expect(const node* at, std::size_t nodes, std::size_t canary) {
  ++steps;
  if (count(at, canary) != nodes) ++broken;
}

std::atomic<std::size_t> born{0};

void call_elsewhere(std::size_t canary) {
  call_on_big_stack([&] {
    const node* const held = tree(3, canary);
    await(yield());
    expect(held, 15, canary);
  });
}
void resume_raw(std::size_t canary) {
  coroutine<void()> raw([canary](auto& self) {
    const node* const held = tree(2, canary);
    self.yield();
    expect(held, 7, canary);
  });
  raw.resume();
  await(yield());
  raw.resume();
}
void lives_shortly() {
  const std::size_t n = born++, canary = (n << 20) ^ 0xbeef;
  const node* const held = tree(3, canary);
  if (n % 7 == 0) call_elsewhere(canary);
  if (n % 4 == 0) resume_raw(canary);
  await(yield());
  expect(held, 15, canary);
}
task<> waits_in_a_frame(std::size_t n) {
  const std::size_t canary = (n << 20) ^ 0x7a5c;
  for (int i = 0; i < 30; ++i) {
    const node* const held = tree(4, canary);
    co_await yield();
    expect(held, 31, canary);
  }
}
void waits_on_a_stack(std::size_t n) {
  const std::size_t canary = (n << 20) ^ 0x5afe;
  for (int i = 0; i < 30; ++i) {
    const node* const held = tree(5, canary);
    await(yield());
    const node* const another = tree(3, canary);
    await(yield());
    expect(held, 63, canary);
    expect(another, 15, canary);
  }
}
void breeds(std::size_t n) {
  for (int i = 0; i < 40; ++i) {
    const spawn_options options{
        .stack_size = n % 3 == 0 ? std::size_t{32768} : std::size_t{65536},
        .stack = n % 3 == 1 ? stack_kind::copied : stack_kind::own,
        .hibernate_after = n % 5 == 0 ? duration(std::chrono::microseconds(200)) : duration::max()};
    auto child = spawn(options, lives_shortly);
    if (i % 2) await(std::move(child));
  }
}

void run_on(std::size_t workers) {
  runtime rt({.workers = workers, .on_start = gc::boehm::on_start, .on_stop = gc::boehm::on_stop});
  std::vector<join_handle<>> all;
  for (std::size_t n = 0; n < 30; ++n) {
    all.push_back(spawn(rt, {.migratable = n % 2 == 0}, waits_on_a_stack, n));
    all.push_back(spawn(rt, waits_in_a_frame, n));
    if (n % 3 == 0) all.push_back(spawn(rt, breeds, n));
  }
  constexpr std::size_t switchers = 6;  // which do little else, so that threads are stopped in switches
  std::atomic<bool> over{false};
  for (std::size_t n = 0; n < switchers; ++n)
    static_cast<void>(spawn(rt, [&, n] {
      while (!over) {
        const node* const held = tree(2, n);
        for (int i = 0; i < 10'000 && !over; ++i) await(yield());
        expect(held, 7, n);
      }
    }));
  while (rt.live() != switchers) {
    GC_gcollect();
    for (const std::size_t before = steps; steps - before < 20 && rt.live() != switchers;) std::this_thread::yield();
  }
  for (int i = 0; i < 300; ++i) {
    GC_gcollect();
    tree(6, 0xdead);  // takes the memory of what was lost
  }
  over = true;
}

}  // namespace

TEST_CASE("no object is lost under coroutines that live and die on several workers") {
  const std::size_t unknown = gc::boehm::statistics().unknown;
  for (const unsigned workers : {1u, 2u, 4u}) {
    for (int i = 0; i < 10; ++i) {
      run_on(workers);
      REQUIRE(broken == 0);
    }
  }
  MESSAGE(GC_get_gc_no(), " collections, ", gc::boehm::statistics().unknown - unknown, " stacks of unknown depth");
  CHECK(gc::boehm::statistics().unknown != unknown);
}
