// tbox's machine switch, which document 001 measures: tb_context_jump, between an owner and coroutines on stacks from
// malloc. What tbox itself builds on it has a scheduler, and that is not measured there.
#include <tbox/platform/context.h>

#include "routine.hpp"

namespace {

// A context that is jumped to gets the jumper's context and a pointer; so does who is jumped back to.
class contexts {
 public:
  contexts(std::size_t n, std::size_t stack) : stack_{stack}, all_{n} {}

  void create(std::size_t i, lab::line& mine) {
    all_.put(i, [&] {
      coroutine made{std::make_unique_for_overwrite<tb_byte_t[]>(stack_), nullptr, &mine};
      made.at = tb_context_make(made.stack.get(), stack_, &body);
      return made;
    });
  }
  void resume(std::size_t i) { all_[i].at = tb_context_jump(all_[i].at, all_[i].mine).context; }
  void finish(std::size_t i) { resume(i); }
  void drop(std::size_t i) { all_.drop(i); }

 private:
  struct coroutine {
    std::unique_ptr<tb_byte_t[]> stack;
    tb_context_ref_t at;
    lab::line* mine;
  };

  static void body(tb_context_from_t from) {
    auto* mine = static_cast<lab::line*>(const_cast<void*>(from.priv));
    while (!mine->stop) {
      ++mine->count;
      from = tb_context_jump(from.context, nullptr);
    }
    tb_context_jump(from.context, nullptr);  // nobody comes back: the stack is freed
  }

  std::size_t stack_;
  lab::slots<coroutine> all_;
};

void other(tb_context_from_t from) {
  auto* count = static_cast<std::uint64_t*>(const_cast<void*>(from.priv));
  for (;;) {
    ++*count;
    from = tb_context_jump(from.context, nullptr);
  }
}

int routine(const lab::request& r) {
  std::uint64_t count = 0;
  auto stack = std::make_unique<tb_byte_t[]>(r.stack);
  tb_context_ref_t at = tb_context_make(stack.get(), r.stack, &other);
  return lab::run_routine(LAB_SYSTEM, r, count, [&](std::size_t k) {
    for (; k; --k) at = tb_context_jump(at, &count).context;
  });
}

}  // namespace

int main(int argc, char** argv) {
  lab::request r = lab::parse(argc, argv);
  if (r.workload == "routine") return routine(r);
  if (r.workload == "switch") return lab::run_switch<contexts>(LAB_SYSTEM, r);
  return lab::run_managed<lab::by_owner<contexts>>(LAB_SYSTEM, r);
}
