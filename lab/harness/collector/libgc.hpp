#pragma once
// The workloads of the page `managed` about collectors, for subjects whose objects are libgc's.
//
//   gc_pause       n coroutines are suspended. Each holds the only reference to an object, in its frame. The time for
//                  which a collection stops the threads: from GC_EVENT_PRE_STOP_WORLD to GC_EVENT_POST_START_WORLD, the
//                  median of nine collections after a first one
//   gc_pause_deep  the same, with ten frames between the frame with the object and the suspension
//   gc_words       words of their stacks that a collection reads, per coroutine
//   gc_stack       a coroutine allocates 1,000 objects, and nothing is collected: the number of bytes below its own
//                  frame that are written
//
// After the collections, memory of the size of the objects is allocated n times and overwritten. Then every coroutine
// continues and checks that its object is intact; if an object is not, the subject fails.
#define GC_THREADS
#define GC_NO_THREAD_REDIRECTS
#include <gc/gc.h>
#include <gc/gc_mark.h>

#include "harness.hpp"

namespace lab {

struct object {
  std::uintptr_t mark;
  std::uintptr_t rest[5];
};

constexpr std::size_t frames_of_deep = 10;
constexpr int collections = 9;

[[gnu::noinline]] inline object* make_object(std::uintptr_t mark) {
  auto* const made = static_cast<object*>(GC_MALLOC(sizeof(object)));
  if (!made) fail("no memory for an object");
  made->mark = mark;
  return made;
}

// The results of the coroutines of a subject.
struct found {
  std::size_t intact = 0;
  void look_at(const object* held, std::size_t i) noexcept { intact += held->mark == i + 1; }
};

// suspend() below a number of frames, all of one size. The state that a switch saves is in the last frame.
template <class Suspend>
[[gnu::noinline]] void last(Suspend& suspend) {
  suspend();
  asm volatile("" ::: "memory");  // no tail call
}
template <class Suspend>
[[gnu::noinline, gnu::noclone]] void below(std::size_t frames, Suspend& suspend) {
  if (frames) below(frames - 1, suspend);
  else last(suspend);
  asm volatile("" ::: "memory");
}

// The body of a coroutine; suspend() returns after all collections.
template <class Suspend>
void hold_shallow(found& by, std::size_t i, Suspend& suspend) {
  object* const held = make_object(i + 1);
  suspend();
  by.look_at(held, i);
}
template <class Suspend>
[[gnu::noinline]] void hold_deep(found& by, std::size_t i, std::size_t frames, Suspend& suspend) {
  object* const held = make_object(i + 1);
  below(frames, suspend);
  by.look_at(held, i);
}
template <class Suspend>
void hold(found& by, std::size_t i, std::size_t frames, Suspend&& suspend) {
  if (frames) hold_deep(by, i, frames, suspend);
  else hold_shallow(by, i, suspend);
}

// --- pauses

class pauses {
 public:
  static void begin() {
    GC_set_on_collection_event([](GC_EventType what) {
      if (what == GC_EVENT_PRE_STOP_WORLD) stopped_at_ = now_ns();
      if (what == GC_EVENT_POST_START_WORLD) last_ = now_ns() - stopped_at_;
    });
  }
  [[gnu::noinline]] static double median_ms() {
    std::vector<double> all;
    GC_gcollect();
    for (int i = 0; i < collections; ++i) {
      last_ = 0;
      GC_gcollect();
      if (!(last_ > 0)) fail("a collection did not stop the threads");
      all.push_back(last_ / 1e6);
    }
    return median(std::move(all));
  }

 private:
  static inline double stopped_at_ = 0, last_ = 0;
};

// Overwrites memory that a collection has freed.
[[gnu::noinline]] inline void overwrite_dead(std::size_t n) {
  GC_disable();
  for (std::size_t i = 0; i < n; ++i) make_object(0)->rest[4] = 1;
  GC_enable();
}

// A crowd of coroutines under test provides
//   Crowd(n, stack bytes, frames)
//   start(found&)    creates all; each holds an object, and suspends below this number of frames
//   finish()         all continue and end
//   words()          for the workload gc_words: the words of all stacks that the last collection has read
template <class Crowd>
int run_pause(const char* system, const request& r) {
  const bool is_deep = r.workload == "gc_pause_deep";
  found all;
  Crowd crowd(r.n, r.stack, is_deep ? frames_of_deep : 0);
  GC_disable();
  crowd.start(all);
  GC_enable();
  pauses::begin();
  const double ms = pauses::median_ms();
  if (r.workload != "gc_words") {
    emit(system, is_deep ? "gc_pause_deep" : "gc_pause", r.n, "ms", ms);
  } else if constexpr (requires { crowd.words(); }) {
    emit(system, "gc_words", r.n, "words", static_cast<double>(crowd.words()) / static_cast<double>(r.n));
  }
  overwrite_dead(r.n);
  crowd.finish();
  if (all.intact != r.n) fail("a collection has freed an object that a coroutine holds");
  return 0;
}

// --- the stack that an allocation takes

// Paints the stack below its caller, and finds how much of the paint was overwritten.
class painted_stack {
 public:
  explicit painted_stack(std::size_t bytes) : here_{static_cast<char*>(__builtin_frame_address(0))}, bytes_{bytes} {
    for (std::size_t i = own_frames; i < bytes_; ++i) at(i) = paint;
  }
  [[gnu::noinline]] double kib_used() const {
    std::size_t deepest = bytes_;
    while (deepest > own_frames && at(deepest - 1) == paint) --deepest;
    if (deepest == bytes_) fail("the painted stack is too small");
    return static_cast<double>(deepest) / 1024;
  }

 private:
  static constexpr char paint = 0x5a;
  static constexpr std::size_t own_frames = 256;
  volatile char& at(std::size_t below) const { return *(here_ - below - 1); }
  char* here_;
  std::size_t bytes_;
};

// Call it on the stack of a coroutine.
[[gnu::noinline]] inline void emit_stack(const char* system, const request& r) {
  const painted_stack stack(r.stack / 4 * 3);
  GC_disable();
  for (std::uintptr_t i = 0; i < 1000; ++i) make_object(i);
  GC_enable();
  emit(system, "gc_stack", r.n, "KB", stack.kib_used());
}

}  // namespace lab
