/* for_each_stack() for tools that are written in C, or call C. The conditions of fiber/enumeration.hpp hold here,
   too. Valid C11. Each function has a C++ counterpart with the name behind `hocket_`.

     static void mark(const void* low, const void* high, int part, void* argument) { ... }

     int unknown = hocket_for_each_stack(threads, count, mark, argument);

   Only hocket_this_thread_fibers() takes a lock, allocates or uses a thread-local variable. A signal handler may
   call all other functions. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A stopped thread (stopped_thread). */
typedef struct hocket_stopped_thread {
  const void* fibers;         /* the result of hocket_this_thread_fibers() in that thread; null: it runs no fibers */
  const void* stack_pointer;  /* where the thread is stopped */
  const uintptr_t* registers; /* all general registers, in any order; null with count 0 for the calling thread */
  size_t register_count;
  const void* stack_low;  /* the lowest byte of the thread's own stack */
  const void* stack_base; /* one past the highest byte to scan */
} hocket_stopped_thread;

/* The kind of memory that a range is part of (stack_part). */
enum hocket_stack_part { hocket_stack_parked, hocket_stack_packed, hocket_stack_finished, hocket_stack_unknown };

/* Receives the words in [low, high), a hocket_stack_part, and the last argument of hocket_for_each_stack(). */
typedef void (*hocket_visit_stack)(const void* low, const void* high, int part, void* argument);

/* Calls `visit` for each range. Returns the number of stacks of unknown depth. */
int hocket_for_each_stack(const hocket_stopped_thread* threads, size_t count, hocket_visit_stack visit, void* argument);

/* Returns the calling thread's value for hocket_stopped_thread::fibers. It is the same at each call until the thread
   ends. Null: there is no memory. */
const void* hocket_this_thread_fibers(void);

/* Returns the end of the roots on the stack that `stack_pointer` is on. Null: no fiber and no call_on_stack has that
   stack. */
const void* hocket_stack_limit(const void* stack_pointer);

/* Returns not 0 if the ranges are right in this build. */
int hocket_can_enumerate_stacks(void);

#ifdef __cplusplus
}
#endif
