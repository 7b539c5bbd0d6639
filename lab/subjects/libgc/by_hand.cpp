// Coroutines as a program would make them for libgc alone: Boost's machine switch, stacks side by side, where each
// coroutine is parked in an array, and a function that pushes the used part of each stack to libgc. Nobody schedules,
// and nothing else is known of a coroutine. One thread. With LAB_WHOLE all of each stack is pushed.
#include <boost/context/detail/fcontext.hpp>
#include <sys/mman.h>

#include "collector/libgc.hpp"

namespace {

namespace ctx = boost::context::detail;

class crowd;
crowd* the_crowd = nullptr;
GC_push_other_roots_proc push_of_libgc = nullptr;

class crowd {
 public:
  crowd(std::size_t n, std::size_t stack, std::size_t frames)
      : n_{n}, stack_{stack}, frames_{frames}, parked_{n}, memory_{memory(n * stack)} {
    the_crowd = this;
    push_of_libgc = GC_get_push_other_roots();
    GC_set_push_other_roots([] {
      the_crowd->push();
      push_of_libgc();
    });
  }
  crowd(const crowd&) = delete;
  crowd& operator=(const crowd&) = delete;
  ~crowd() {
    GC_set_push_other_roots(push_of_libgc);
    munmap(memory_, n_ * stack_);
  }

  void start(lab::found& all) {
    all_ = &all;
    for (std::size_t i = 0; i < n_; ++i) begin(i, &crowd::life);
  }
  void finish() {
    for (std::size_t i = 0; i < n_; ++i) parked_[i] = ctx::jump_fcontext(parked_[i], nullptr).fctx;
  }
  std::size_t words() const { return words_; }

  void measure_stack(const lab::request& r) {
    asked_ = &r;
    begin(0, &crowd::allocates);
  }

 private:
  struct given {
    crowd* in;
    std::size_t i;
    void (crowd::*body)(std::size_t i, ctx::fcontext_t& back);
  };

  static char* memory(std::size_t bytes) {
    void* const p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) lab::fail("no memory for stacks");
    madvise(p, bytes, MADV_NOHUGEPAGE);
    return static_cast<char*>(p);
  }
  char* top(std::size_t i) const { return memory_ + (i + 1) * stack_; }

  void begin(std::size_t i, void (crowd::*body)(std::size_t, ctx::fcontext_t&)) {
    given with{this, i, body};
    parked_[i] = ctx::jump_fcontext(ctx::make_fcontext(top(i), stack_, &enter), &with).fctx;
  }
  static void enter(ctx::transfer_t from) {
    const given with = *static_cast<given*>(from.data);
    (with.in->*with.body)(with.i, from.fctx);
    ctx::jump_fcontext(from.fctx, nullptr);
  }
  void life(std::size_t i, ctx::fcontext_t& back) {
    lab::hold(*all_, i, frames_, [&] { back = ctx::jump_fcontext(back, nullptr).fctx; });
  }
  void allocates(std::size_t, ctx::fcontext_t&) { lab::emit_stack(LAB_SYSTEM, *asked_); }

  void push() {
    words_ = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      if (!parked_[i]) continue;
#ifdef LAB_WHOLE
      char* const low = top(i) - stack_;
#else
      char* const low = static_cast<char*>(parked_[i]);
#endif
      GC_push_all_eager(low, top(i));
      words_ += static_cast<std::size_t>(top(i) - low) / sizeof(void*);
    }
  }

  std::size_t n_;
  std::size_t stack_;
  std::size_t frames_;
  std::size_t words_ = 0;
  lab::slots<ctx::fcontext_t> parked_;
  char* memory_;
  lab::found* all_ = nullptr;
  const lab::request* asked_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  const lab::request r = lab::parse(argc, argv);
  GC_set_markers_count(1);  // all run on one core
  GC_INIT();
  GC_allow_register_threads();
  if (r.workload != "gc_stack") return lab::run_pause<crowd>(LAB_SYSTEM, r);
  crowd one(1, r.stack, 0);
  one.measure_stack(r);
  return 0;
}
