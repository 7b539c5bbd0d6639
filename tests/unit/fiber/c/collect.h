/* A collector in C, which keeps what it is told. */
#pragma once
#include <hocket/fiber/enumeration.h>

enum { most_ranges = 64 };

struct ranges_in_c {
  struct {
    const void* low;
    const void* high;
    int part;
  } all[most_ranges];
  int count;
  int unknown;
};

#ifdef __cplusplus
extern "C" {
#endif

/* The ranges while the calling thread is stopped where it calls this. */
void collect_in_c(const void* stack_low, const void* stack_base, const void* stack_pointer, struct ranges_in_c* into);

/* Stores hocket_stack_limit(stack_pointer); returns hocket_can_enumerate_stacks(). */
int ask_in_c(const void* stack_pointer, const void** limit);

#ifdef __cplusplus
}
#endif
