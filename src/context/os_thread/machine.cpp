// The back end `thread`: each fiber is a thread of the operating system.
//
// Of the threads that switch to one another exactly one runs. Each other thread sleeps in switch_to(). It has a record
// on its stack: the go_ahead that it waits for, and memory for the words of the switch. A switch writes into the other
// thread's record, gives its go_ahead, and waits for the own one.
//
// The record of a fresh stack has the entry. The first switch to it creates the thread, which runs at once; so a fiber
// that is never started costs no thread. The thread has a stack of its own, larger than the given one.
//
// leave() writes its own thread into the other's record, and jumps to the first frame of its thread, over the frames of
// the fiber, as the contract allows. The other thread joins it before it continues. So destructors of thread_local
// objects have run, no thread leaks, and only one runs at a time.
//
// The logical thread is passed on with the go_ahead (base/seam/logical_thread.hpp).
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

// The thread that switches to it writes it, before it gives the go_ahead.
struct record {
  go_ahead turn{};
  arrival words{};
  logical_thread* thread = nullptr;
  bool ends = false;  // the thread that switched here ends, and must be joined
  pthread_t ending{};
  void (*entry)(void*, void*, void*) = nullptr;  // of a fresh stack; else null
  void* argument = nullptr;
  std::size_t stack_size = 0;
};
static_assert(std::is_trivially_destructible_v<record>);

thread_local constinit std::jmp_buf* first_frame = nullptr;  // of a fiber's thread

// The additional stack of a thread: for the C library's data, and for the additions of sanitizers to each frame.
constexpr std::size_t extra_stack = sanitizer == sanitizer_kind::plain ? 64 * 1024 : 1024 * 1024;

arrival complete_switch(const record& own) noexcept {
  continue_as(*own.thread);
  if (own.ends) pthread_join(own.ending, nullptr);
  return own.words;
}

void* run(void* fresh) noexcept {
  const record& own = *static_cast<const record*>(fresh);
  std::jmp_buf frame;
  first_frame = &frame;
  if (setjmp(frame) == 0) {
    auto [from, transfer] = complete_switch(own);
    own.entry(own.argument, from, transfer);
    std::abort();  // an entry never returns
  }
  return nullptr;
}

std::size_t thread_stack_size(std::size_t requested) noexcept {
  auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  auto least = static_cast<std::size_t>(PTHREAD_STACK_MIN);
  return (requested + least + extra_stack + page - 1) / page * page;
}

void start(record& fresh) noexcept {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, thread_stack_size(fresh.stack_size));
  pthread_t thread;
  int error = pthread_create(&thread, &attributes, &run, &fresh);
  pthread_attr_destroy(&attributes);
  if (error != 0)
    fatal("the operating system gave no thread for a fiber",
          "raise its limit (ulimit -u, pids.max), keep fewer fibers, or build another HOCKET_BACKEND");
}

// `ending`: the caller's thread, if it ends here.
void hand_over(void* to, arrival words, const pthread_t* ending) noexcept {
  auto& target = *static_cast<record*>(to);
  target.words = words;
  target.thread = &this_logical_thread();
  target.ends = ending != nullptr;
  if (ending) target.ending = *ending;
  if (target.entry) start(target);
  else target.turn.give();
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
  record own;
  hand_over(to, {&own, transfer}, nullptr);
  own.turn.take();
  return complete_switch(own);
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
