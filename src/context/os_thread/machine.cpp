// How fibers are made of threads.
//
// Of the threads that have switched to one another exactly one runs; the others sleep, each in switch_to(), each with a
// record on its own stack: a go_ahead that it waits for, and room for what it will be told. To switch is to write into
// the other's record, to give its go_ahead, and to take one's own.
//
// A fresh stack's record says what to run. Its thread is made at the first switch to it and waits for nothing: what was
// never started has cost no thread. The thread has a stack of its own, as large as the given one and more.
//
// leave() tells the other who is about to end and jumps back to the first frame of its thread, over the fiber's frames,
// which are given up as the contract has it. The other joins it before it goes on: then destructors of thread_local
// objects have run, no thread is ever left behind, and still only one runs at a time.
//
// The logical thread goes from hand to hand with the go_ahead (base/seam/logical_thread.hpp).
#include <hocket/base/fatal.hpp>
#include <hocket/base/seam/logical_thread.hpp>
#include <hocket/context/seam/switch.hpp>

#include "context/os_thread/go_ahead.hpp"

#include <climits>
#include <csetjmp>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <pthread.h>
#include <type_traits>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail { namespace machine {
namespace {

// Written by the thread that switches to it, before the go_ahead is given.
struct record {
  go_ahead turn{};
  arrival words{};
  logical_thread* thread = nullptr;
  bool ends = false;  // the thread that switched here: to be joined
  pthread_t ending{};
  void (*entry)(void*, void*, void*) = nullptr;  // of a fresh stack; else null
  void* argument = nullptr;
  std::size_t stack_size = 0;
};
static_assert(std::is_trivially_destructible_v<record>);

thread_local constinit std::jmp_buf* first_frame = nullptr;  // of a fiber's thread

// What a thread adds to a stack on its own account: the C library's data, and what sanitizers add to each frame.
constexpr std::size_t extra_stack = sanitizer == sanitizer_kind::plain ? 64 * 1024 : 1024 * 1024;

arrival go_on(const record& own) noexcept {
  continue_as(*own.thread);
  if (own.ends) pthread_join(own.ending, nullptr);
  return own.words;
}

void* run(void* fresh) noexcept {
  const record& own = *static_cast<const record*>(fresh);
  std::jmp_buf here;
  first_frame = &here;
  if (setjmp(here) == 0) {
    auto [from, transfer] = go_on(own);
    own.entry(own.argument, from, transfer);
    std::abort();  // an entry never returns
  }
  return nullptr;
}

std::size_t thread_stack_size(std::size_t wanted) noexcept {
  auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  auto least = static_cast<std::size_t>(PTHREAD_STACK_MIN);
  return (wanted + least + extra_stack + page - 1) / page * page;
}

void start(record& fresh) noexcept {
  pthread_attr_t how;
  pthread_attr_init(&how);
  pthread_attr_setstacksize(&how, thread_stack_size(fresh.stack_size));
  pthread_t made;
  int error = pthread_create(&made, &how, &run, &fresh);
  pthread_attr_destroy(&how);
  if (error != 0)
    fatal("the operating system gave no thread for a fiber",
          "raise its limit (ulimit -u, pids.max), keep fewer fibers, or build another HOCKET_BACKEND");
}

// `ending`: the caller's thread, if it ends here.
void hand_over(void* to, arrival words, const pthread_t* ending) noexcept {
  auto& there = *static_cast<record*>(to);
  there.words = words;
  there.thread = &this_logical_thread();
  there.ends = ending != nullptr;
  if (ending) there.ending = *ending;
  if (there.entry) start(there);
  else there.turn.give();
}

}  // namespace

void* prepare(void* top, void (*entry)(void*, void*, void*), void* argument, std::size_t size) noexcept {
  auto at = reinterpret_cast<std::uintptr_t>(top) - sizeof(record);
  auto* fresh = ::new (reinterpret_cast<void*>(at - at % alignof(record))) record;
  fresh->entry = entry;
  fresh->argument = argument;
  fresh->stack_size = size;
  return fresh;
}

arrival switch_to(void* to, void* transfer) noexcept {
  record here;
  hand_over(to, {&here, transfer}, nullptr);
  here.turn.take();
  return go_on(here);
}

void leave(void* to, void* transfer) noexcept {
  if (!first_frame) fatal("a thread was left that is no fiber", "only a fiber's entry leaves, by the end of its body");
  pthread_t self = pthread_self();
  hand_over(to, {nullptr, transfer}, &self);
  std::longjmp(*first_frame, 1);
}

const void* thread_id() noexcept { return &this_logical_thread(); }

}  // namespace machine
}}}  // namespace hocket::detail
