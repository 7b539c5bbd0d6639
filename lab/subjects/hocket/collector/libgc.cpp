// hocket::gc_boehm: fibers, or tasks (LAB_TASK), on a loop wait for one event. gc::boehm is started before anything of
// hocket allocates, and then frames and exceptions come from libgc: hence programs of their own.
#include <hocket/gc/boehm.hpp>
#include <hocket/sync/event.hpp>

#include "../kind.hpp"
#include "collector/libgc.hpp"

#ifndef LAB_STACK
#define LAB_STACK own
#endif

namespace {

// Small stacks have the size that hocket gives them.
hocket::spawn_options options(std::size_t stack) {
  constexpr hocket::stack_kind kind = hocket::stack_kind::LAB_STACK;
  return {.stack_size = kind == hocket::stack_kind::own ? stack : 0, .stack = kind};
}

class crowd {
 public:
  crowd(std::size_t n, std::size_t stack, std::size_t frames) : n_{n}, stack_{stack}, frames_{frames}, handles_{n} {}

  void start(lab::found& all) {
    for (std::size_t i = 0; i < n_; ++i) handles_.put(i, [&] { return spawn(all, i); });
    settle();
  }
  void finish() {
    end_.set();
    settle();
    for (std::size_t i = 0; i < n_; ++i) handles_.drop(i);
  }
#ifndef LAB_TASK
  std::size_t words() const { return hocket::gc::boehm::statistics().words; }
#endif

 private:
  hocket::join_handle<void> spawn(lab::found& all, std::size_t i) {
    return hocket::spawn(loop_, options(stack_), [this, &all, i] { return hold(all, i); });
  }
#ifdef LAB_TASK
  hocket::task<> hold(lab::found& all, std::size_t i) {
    lab::object* const held = lab::make_object(i + 1);
    co_await end_.wait();
    all.look_at(held, i);
  }
#else
  void hold(lab::found& all, std::size_t i) {
    lab::hold(all, i, frames_, [this] { static_cast<void>(hocket::await(end_.wait())); });
  }
#endif
  void settle() {
    while (loop_.poll()) {
    }
  }

  std::size_t n_;
  std::size_t stack_;
  std::size_t frames_;
  hocket::event end_;
  hocket::loop loop_;
  lab::slots<hocket::join_handle<void>> handles_;
};

#ifndef LAB_TASK
int run_stack(const lab::request& r) {
  hocket::loop loop;
  auto one = hocket::spawn(loop, options(r.stack), [&] { lab::emit_stack(LAB_SYSTEM, r); });
  loop.run();
  return 0;
}
#endif

}  // namespace

int main(int argc, char** argv) {
  const lab::request r = lab::parse(argc, argv);
  GC_set_markers_count(1);  // all run on one core
  hocket::gc::boehm::start();
#ifndef LAB_TASK
  if (r.workload == "gc_stack") return run_stack(r);
#endif
  return lab::run_pause<crowd>(LAB_SYSTEM, r);
}
