#include "collect.h"

static void keep(const void* low, const void* high, int part, void* with) {
  struct ranges_in_c* const into = with;
  if (into->count == most_ranges) return;
  into->all[into->count].low = low;
  into->all[into->count].high = high;
  into->all[into->count].part = part;
  ++into->count;
}

void collect_in_c(const void* stack_low, const void* stack_base, const void* stack_pointer, struct ranges_in_c* into) {
  const hocket_stopped_thread here = {.fibers = hocket_this_thread_fibers(),
                                 .stack_pointer = stack_pointer,
                                 .registers = NULL,
                                 .register_count = 0,
                                 .stack_low = stack_low,
                                 .stack_base = stack_base};
  into->count = 0;
  into->unknown = hocket_for_each_stack(&here, 1, keep, into);
}

int ask_in_c(const void* stack_pointer, const void** limit) {
  *limit = hocket_stack_limit(stack_pointer);
  return hocket_can_enumerate_stacks();
}
