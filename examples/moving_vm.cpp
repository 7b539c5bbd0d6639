// A small virtual machine whose collector moves its objects: 10,000 coroutines, half of them fibers, half tasks, run
// programs that build lists, while every object is copied from one half of the heap to the other again and again.
//
// A coroutine of the machine keeps its references on a stack of values that the machine knows, in its slot: no word of
// the processor's stack is looked at, so the collector is precise, and may move what it finds. (A collector that looks
// through the stacks of fibers is gc/boehm.hpp.) A safepoint is in the allocation and in the loop of the interpreter.
#include <hocket/gc/root.hpp>
#include <hocket/gc/world.hpp>
#include <hocket/hocket.hpp>

#include <atomic>
#include <cstdio>
#include <functional>
#include <memory>
#include <vector>

using namespace hocket;

namespace {

constexpr std::size_t coroutines = 10'000;
constexpr std::size_t heap_cells = 1'000'000;  // in each half
constexpr int list_length = 20;

// An object of the machine.
struct cell {
  cell* next = nullptr;
  cell* moved_to = nullptr;  // during a collection
  long number = 0;
  int moves = 0;
};

// What the machine keeps for each coroutine.
struct interpreter {
  std::vector<cell*> stack;
};

class heap {
 public:
  heap() : from_(std::make_unique<cell[]>(heap_cells)), to_(std::make_unique<cell[]>(heap_cells)) {}

  // A safepoint: whatever the caller holds elsewhere than on its interpreter's stack, or in a root, is stale afterwards.
  cell* allocate() {
    for (;;) {
      gc::safepoint();
      const std::size_t place = used_.fetch_add(1);
      if (place < heap_cells) return &(from_[place] = {});
      collect_if_full();
    }
  }
  void collect() {
    gc::stop_world([this](std::span<const stopped_thread>) { copy_all(); });
  }
  int collections() const noexcept { return collections_; }

 private:
  // Another thread may have collected while this one waited for its turn.
  void collect_if_full() {
    gc::stop_world([this](std::span<const stopped_thread>) {
      if (used_ >= heap_cells) copy_all();
    });
  }

  // Cheney, "A nonrecursive list compacting algorithm" (1970). Nobody else runs.
  void copy_all() {
    std::size_t copied = 0;
    const auto move = [&](cell*& reference) {
      if (!reference) return;
      if (!reference->moved_to) {
        cell& copy = to_[copied++] = *reference;
        ++copy.moves;
        reference->moved_to = &copy;
      }
      reference = reference->moved_to;
    };
    gc::for_each_slot<interpreter>([&](interpreter& one) {
      for (cell*& value : one.stack) move(value);
    });
    gc::for_each_root([&](void*& object) {
      auto* reference = static_cast<cell*>(object);
      move(reference);
      object = reference;
    });
    for (std::size_t scanned = 0; scanned < copied; ++scanned) move(to_[scanned].next);
    // What was left behind is overwritten, so that a stale reference is found.
    for (std::size_t i = 0; i < heap_cells; ++i) from_[i].number = -1;
    from_.swap(to_);
    used_ = copied;
    ++collections_;
  }

  std::unique_ptr<cell[]> from_, to_;
  std::atomic<std::size_t> used_{0};  // of from_
  int collections_ = 0;
};

struct machine {
  heap memory;
  event checked;  // the lists have been moved twice
  latch built{coroutines};
  std::atomic<std::size_t> broken{0}, sums{0}, unmoved{0};
};

// The machine's instructions work on the stack of the coroutine that runs.
void push_list(machine& vm, long seed) {
  auto& stack = gc::current_slot<interpreter>()->stack;
  stack.push_back(nullptr);
  for (int i = 0; i < list_length; ++i) {
    cell* const made = vm.memory.allocate();  // stack.back() may have moved meanwhile
    made->number = seed + i;
    made->next = stack.back();
    stack.back() = made;
  }
}
void check_list(machine& vm, long seed, int least_moves) {
  int expected = list_length;
  for (const cell* at = gc::current_slot<interpreter>()->stack.back(); at; at = at->next) {
    if (at->number != seed + --expected) ++vm.broken;
    if (at->moves < least_moves) ++vm.unmoved;
  }
  if (expected != 0) ++vm.broken;
}

void run_in_fiber(machine& vm, long seed) {
  gc::slot<interpreter> here;
  push_list(vm, seed);
  vm.built.count_down();
  if (!await(vm.checked.wait())) return;
  check_list(vm, seed, 2);
  for (int i = 0; i < 10; ++i) {
    gc::safepoint();
    push_list(vm, seed + i);
    await(yield());
    check_list(vm, seed + i, 0);
    here->stack.pop_back();
  }
  check_list(vm, seed, 2);
}

task<> run_in_task(machine& vm, long seed) {
  gc::slot<interpreter> here;
  push_list(vm, seed);
  vm.built.count_down();
  if (!co_await vm.checked.wait()) co_return;
  check_list(vm, seed, 2);
  for (int i = 0; i < 10; ++i) {
    gc::safepoint();
    push_list(vm, seed + i);
    co_await yield();
    check_list(vm, seed + i, 0);
    here->stack.pop_back();
  }
  check_list(vm, seed, 2);
}

}  // namespace

int main() {
  machine vm;
  const gc::thread_scope registered;
  gc::root<cell> of_main(vm.memory.allocate());
  of_main->number = 42;
  std::size_t slots = 0;
  {
    runtime rt({.workers = 2, .on_start = gc::on_start, .on_stop = gc::on_stop});
    std::vector<join_handle<>> all;
    for (long seed = 0; seed < long{coroutines}; ++seed) {
      if (seed % 2) all.push_back(spawn(rt, {.stack = stack_kind::dense}, run_in_fiber, std::ref(vm), seed * 1000));
      else all.push_back(spawn(rt, run_in_task, std::ref(vm), seed * 1000));
    }
    static_cast<void>(sync_wait(vm.built.wait()));
    vm.memory.collect();
    vm.memory.collect();
    gc::stop_world([&](std::span<const stopped_thread>) {
      gc::for_each_slot<interpreter>([&](interpreter&) { ++slots; });
    });
    vm.checked.set();
    for (auto& one : all) sync_wait(one);
  }
  std::printf("%zu coroutines kept %zu objects, moved at least twice by %d collections; broken: %zu, unmoved: %zu\n", slots,
              slots * list_length, vm.memory.collections(), vm.broken.load(), vm.unmoved.load());
  const bool all_right = slots == coroutines && vm.broken == 0 && vm.unmoved == 0;
  return all_right && of_main->number == 42 && of_main->moves >= 2 ? 0 : 1;
}
