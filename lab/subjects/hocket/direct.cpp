// hocket's machine switch on stacks of its pool, each coroutine directly to the next, as in ucontext_direct.cpp and
// boost_context_direct.cpp. The last coroutine switches to the first, or to the owner after the last round.
//
// A resumed coroutine gets the record of the coroutine that switched to it. In a ring that is always the previous one.
#include <hocket/context/seam/switch.hpp>
#include <hocket/stack/stack_pool.hpp>

#include "managed.hpp"

namespace {

namespace machine = hocket::detail::machine;

class ring {
 public:
  ring(std::size_t n, std::size_t stack) : n_{n}, pool_{{.stack_size = stack}}, stacks_{n}, records_{n}, begin_{n} {}

  void create(std::size_t i, lab::line& mine) {
    auto stack = pool_.acquire();
    if (!stack) lab::fail("the pool has no stack");
    stacks_[i] = *stack;
    begin_[i] = {this, i, &mine};
    records_[i] = machine::prepare(stack->top, &entry, &begin_[i], stack->size());
  }
  void rounds(std::size_t k) {
    left_ = k;
    before_first_ = &owner_;
    records_[n_ - 1] = machine::switch_to(records_[0], nullptr).from;
  }
  void finish() { rounds(1); }
  void drop(std::size_t i) { pool_.release(stacks_[i]); }

 private:
  struct start {
    ring* self;
    std::size_t i;
    lab::line* mine;
  };
  static void entry(void* argument, void* from, void*) {
    start s = *static_cast<start*>(argument);
    s.self->body(s.i, *s.mine, from);
  }
  // Has a genuine call, as the in_caller form of the switch requires.
  [[gnu::always_inline]] void body(std::size_t i, lab::line& mine, void* from) {
    put_back(i, from);
    while (!mine.stop) {
      ++mine.count;
      void* to = after(i);
      if (!to) [[unlikely]]
        lab::fail("the next one has no record");
      put_back(i, machine::switch_to_in_caller(to, nullptr).from);
    }
    machine::leave(after(i), nullptr);
  }
  void* after(std::size_t i) {
    if (i + 1 < n_) return records_[i + 1];
    return --left_ ? records_[0] : owner_;
  }
  void put_back(std::size_t i, void* from) {
    if (i != 0) records_[i - 1] = from;
    else *std::exchange(before_first_, &records_[n_ - 1]) = from;
  }

  std::size_t n_;
  std::size_t left_ = 0;
  void* owner_ = nullptr;
  void** before_first_ = nullptr;  // where the record for number 0 is stored
  hocket::stack_pool pool_;
  lab::slots<hocket::stack_ref> stacks_;
  lab::slots<void*> records_;
  lab::slots<start> begin_;
};

}  // namespace

int main(int argc, char** argv) { return lab::run_managed<ring>(LAB_SYSTEM, lab::parse(argc, argv)); }
