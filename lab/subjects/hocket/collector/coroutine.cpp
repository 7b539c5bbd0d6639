// hocket::gc_boehm: raw coroutines, resumed by their owner.
#include <hocket/fiber/coroutine.hpp>
#include <hocket/gc/boehm.hpp>

#include "collector/libgc.hpp"

namespace {

class crowd {
 public:
  crowd(std::size_t n, std::size_t stack, std::size_t frames)
      : n_{n}, frames_{frames}, pool_(hocket::stack_options{.stack_size = stack}), all_{n} {}

  void start(lab::found& found) {
    for (std::size_t i = 0; i < n_; ++i) {
      all_.put(i, [&] {
        return hocket::coroutine<void()>(
            pool_, [this, &found, i](auto& self) { lab::hold(found, i, frames_, [&self] { self.yield(); }); });
      });
      all_[i].resume();
    }
  }
  void finish() {
    for (std::size_t i = 0; i < n_; ++i) {
      all_[i].resume();
      all_.drop(i);
    }
  }
  std::size_t words() const { return hocket::gc::boehm::statistics().words; }

 private:
  std::size_t n_;
  std::size_t frames_;
  hocket::stack_pool pool_;
  lab::slots<hocket::coroutine<void()>> all_;
};

int run_stack(const lab::request& r) {
  hocket::stack_pool pool(hocket::stack_options{.stack_size = r.stack});
  hocket::coroutine<void()> one(pool, [&r](auto&) { lab::emit_stack(LAB_SYSTEM, r); });
  one.resume();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const lab::request r = lab::parse(argc, argv);
  GC_set_markers_count(1);  // all run on one core
  hocket::gc::boehm::start();
  if (r.workload == "gc_stack") return run_stack(r);
  return lab::run_pause<crowd>(LAB_SYSTEM, r);
}
