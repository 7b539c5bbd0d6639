// Operating system threads: the owner hands over to one of them and waits, both by futex. The lab runs every subject
// on one core, so each handing over is a switch of the kernel; a round trip has two of them, as everywhere else.
//
// Creation is pthread_create, of a thread that waits for its first turn; how it gets there belongs to the first
// activation, unless the kernel runs it at once. A thread hands over for the last time at the end of its function;
// destruction is pthread_join, which waits for what may then be left of the thread's exit.
#include "os_thread.hpp"

namespace {

struct alignas(64) thread {
  lab::baton go{};
  lab::baton* owner = nullptr;
  lab::line* mine = nullptr;
  pthread_t id{};
};

void* entry(void* argument) {
  auto* t = static_cast<thread*>(argument);
  t->go.take();
  while (!t->mine->stop) {
    ++t->mine->count;
    t->owner->pass();
    t->go.take();
  }
  t->owner->pass();
  return nullptr;
}

class threads {
 public:
  threads(std::size_t n, std::size_t stack) : attributes_{lab::stack_attributes(stack)}, threads_{n} {}

  void create(std::size_t i, lab::line& mine) {
    thread& t = *::new (static_cast<void*>(&threads_[i])) thread;
    t.owner = &owner_;
    t.mine = &mine;
    if (pthread_create(&t.id, &attributes_, entry, &t) != 0) lab::fail("pthread_create failed");
  }
  void resume(std::size_t i) {
    threads_[i].go.pass();
    owner_.take();
  }
  void finish(std::size_t i) { resume(i); }
  void drop(std::size_t i) { pthread_join(threads_[i].id, nullptr); }

 private:
  pthread_attr_t attributes_;
  lab::baton owner_{};
  lab::slots<thread> threads_;
};

}  // namespace

int main(int argc, char** argv) {
  lab::request r = lab::parse(argc, argv);
  if (const char* reason = lab::refused_by(r.n)) return lab::skip(LAB_SYSTEM, r, reason);
  return lab::run_switch<threads>(LAB_SYSTEM, r);
}
