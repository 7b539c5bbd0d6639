// The cost of owning a coroutine and of storing its callable. All callables capture the same four words.
//
//   hocket-in-place      a coroutine, its callable on its own stack
//   std-function         the callable is a std::function, which allocates for this number of words
//   shared-ptr           a shared_ptr (make_shared) owns the coroutine; the resumer holds another one meanwhile
//   shared-ptr-function  both, with a shared_ptr made from `new`: two allocations and one more
//
// A second thread sleeps: in a program of one thread the C++ library omits the atomics of shared_ptr.
#include <hocket/fiber/coroutine.hpp>

#include <functional>
#include <semaphore>
#include <thread>

#include "owned.hpp"

namespace {

using coroutine = hocket::coroutine<void()>;

struct captured {
  lab::line* mine;
  std::uintptr_t words[3];

  void operator()(coroutine::self& self) const {
    while (!mine->stop) {
      ++mine->count;
      self.yield();
    }
  }
};

struct in_place {
  static coroutine make(hocket::stack_pool& stacks, const captured& body) { return coroutine{stacks, body}; }
};
struct in_function {
  static coroutine make(hocket::stack_pool& stacks, const captured& body) {
    return coroutine{stacks, std::function<void(coroutine::self&)>{body}};
  }
};

template <class Callable>
class direct {
 public:
  direct(std::size_t n, std::size_t stack) : stacks_{{.stack_size = stack}}, all_{n} {}

  void create(std::size_t i, lab::line& mine) {
    all_.put(i, [&] { return Callable::make(stacks_, {&mine, {i, i, i}}); });
  }
  void resume(std::size_t i) { all_[i].resume(); }
  void finish(std::size_t i) { resume(i); }
  void drop(std::size_t i) { all_.drop(i); }

 private:
  hocket::stack_pool stacks_;
  lab::slots<coroutine> all_;
};

template <class Callable, bool FromNew>
class shared {
 public:
  shared(std::size_t n, std::size_t stack) : stacks_{{.stack_size = stack}}, all_{n} {}

  void create(std::size_t i, lab::line& mine) {
    captured body{&mine, {i, i, i}};
    all_.put(i, [&] {
      if constexpr (FromNew) return std::shared_ptr<coroutine>{new coroutine{Callable::make(stacks_, body)}};
      else return std::make_shared<coroutine>(Callable::make(stacks_, body));
    });
  }
  void resume(std::size_t i) {
    std::shared_ptr<coroutine> held = all_[i];
    held->resume();
  }
  void finish(std::size_t i) { resume(i); }
  void drop(std::size_t i) { all_.drop(i); }

 private:
  hocket::stack_pool stacks_;
  lab::slots<std::shared_ptr<coroutine>> all_;
};

template <class Pool>
int measure(const char* system, const lab::request& r) {
  std::binary_semaphore over{0};
  std::jthread another{[&] { over.acquire(); }};
  {
    lab::owned_page<Pool> page{r};
    lab::emit(system, "ownership", r.n, "ns", page.lives());
    lab::emit(system, "ownership_trip", r.n, "ns", page.round_trips());
  }
  over.release();
  return 0;
}

}  // namespace

int lab::ownership(const char* system, const request& r) {
  std::string_view name = system;
  if (name == "hocket-in-place") return measure<direct<in_place>>(system, r);
  if (name == "std-function") return measure<direct<in_function>>(system, r);
  if (name == "shared-ptr") return measure<shared<in_place, false>>(system, r);
  if (name == "shared-ptr-function") return measure<shared<in_function, true>>(system, r);
  unknown_system();
}
