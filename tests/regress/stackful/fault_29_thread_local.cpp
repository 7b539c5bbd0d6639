// FAULT 29: the address of a thread_local kept over a switch to another thread (userver#242, ldc#666, llvm#47179,
// silk#66). The library's own accessor must give the new thread's address, at every level of optimisation. A raw
// coroutine does not migrate, so the test switches by hand.
#include <hocket/context/detail/platform/annotation.hpp>
#include <hocket/context/seam/switch.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/thread/seam/current.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <thread>

using namespace hocket;

namespace {

struct seen {
  detail::thread_state* state;
  executor* on;
  const void* id;
};
seen before, after, twice;
detail::switch_annotation annotation;

// The same expression before and after, so that a compiler that may keep the address will.
[[gnu::always_inline]] inline seen look() {
  return {&detail::this_thread(), current_executor(), detail::machine::thread_id()};
}

void body(void*, void* from, void*) {
  annotation.on_entry();
  before = look();
  annotation.before_yield();
  detail::machine::arrival back = detail::machine::switch_to(from, nullptr);
  annotation.after_yield();
  after = look();
  twice = look();
  annotation.before_leave();
  detail::machine::leave(back.from, nullptr);
}

}  // namespace

TEST_CASE("fault 29: after a move to another thread, this_thread() is the new thread's") {
  constexpr std::size_t size = 256 * 1024;
  auto memory = std::make_unique<char[]>(size);
  char* top = memory.get() + size - reinterpret_cast<std::uintptr_t>(memory.get()) % 64;
  void* record = detail::machine::prepare(top, &body, nullptr, size - 64);
  annotation.on_acquire(memory.get(), size - 64);
  annotation.before_resume();
  record = detail::machine::switch_to(record, nullptr).from;
  annotation.after_resume();
  seen there{};
  std::thread([&] {
    there = look();
    annotation.before_resume();
    detail::machine::switch_to(record, nullptr);
    annotation.after_resume();
  }).join();
  annotation.on_release();
  CHECK(before.state == &detail::this_thread());
  CHECK(before.id == detail::machine::thread_id());
  CHECK(after.state == there.state);
  CHECK(after.id == there.id);
  CHECK(after.state != before.state);
  CHECK(twice.state == after.state);
}
