// Operating system threads that go straight from one to the next: each wakes the next one by futex and sleeps, one
// switch of the kernel a turn, where os_thread.cpp has two. The last one wakes the first, or the owner when the rounds
// are done.
#include "managed.hpp"
#include "os_thread.hpp"

namespace {

class ring;

struct alignas(64) thread {
  lab::baton go{};
  ring* in = nullptr;
  lab::line* mine = nullptr;
  pthread_t id{};
};

class ring {
 public:
  ring(std::size_t n, std::size_t stack) : n_{n}, attributes_{lab::stack_attributes(stack)}, threads_{n} {}

  void create(std::size_t i, lab::line& mine) {
    thread& t = *::new (static_cast<void*>(&threads_[i])) thread;
    t.in = this;
    t.mine = &mine;
    if (pthread_create(&t.id, &attributes_, entry, &t) != 0) lab::fail("pthread_create failed");
  }
  void rounds(std::size_t k) {
    left_ = k;
    threads_[0].go.pass();
    owner_.take();
  }
  void finish() { rounds(1); }
  void drop(std::size_t i) { pthread_join(threads_[i].id, nullptr); }

 private:
  static void* entry(void* argument) {
    auto* t = static_cast<thread*>(argument);
    t->in->body(*t);
    return nullptr;
  }
  void body(thread& t) {
    for (t.go.take(); !t.mine->stop; t.go.take()) {
      ++t.mine->count;
      after(t).pass();
    }
    after(t).pass();
  }
  lab::baton& after(thread& t) {
    if (&t != &threads_[n_ - 1]) return (&t + 1)->go;
    return --left_ ? threads_[0].go : owner_;
  }

  std::size_t n_;
  std::size_t left_ = 0;
  lab::baton owner_{};
  pthread_attr_t attributes_;
  lab::slots<thread> threads_;
};

}  // namespace

int main(int argc, char** argv) {
  lab::request r = lab::parse(argc, argv);
  if (const char* reason = lab::refused_by(r.n)) return lab::skip(LAB_SYSTEM, r, reason);
  return lab::run_managed<ring>(LAB_SYSTEM, r);
}
