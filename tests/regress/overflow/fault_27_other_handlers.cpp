// FAULT 27, the neighbours: faults that are nobody's overflow, handlers that were there before, and the switch.
#include <hocket/context/seam/switch.hpp>
#include <hocket/fiber/coroutine.hpp>
#include <hocket/fiber/overflow_report.hpp>

#include "overflow.hpp"
#include "support/valgrind.hpp"

#include <cerrno>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

using namespace hocket;
using namespace overflow;

namespace {

constexpr const char* report = "the stack of a coroutine overflowed";

void say(const char* words) { static_cast<void>(!::write(2, words, std::char_traits<char>::length(words))); }

void run_fiber(void (*body)()) {
  coroutine<void()>{[body](auto&) { body(); }}.resume();
}

void install(struct sigaction action) { ::sigaction(SIGSEGV, &action, nullptr); }
struct sigaction informed(void (*f)(int, siginfo_t*, void*), int flags = 0) {
  struct sigaction action{};
  action.sa_sigaction = f;
  action.sa_flags = SA_SIGINFO | flags;
  return action;
}

void* fault_address(siginfo_t* info) { return info->si_addr; }

// A page that a handler opens when it is touched.
std::byte* closed_page = nullptr;
void open_page(int, siginfo_t* info, void*) {
  if (fault_address(info) != closed_page) ::_exit(4);
  ::mprotect(closed_page, 4096, PROT_READ | PROT_WRITE);
  errno = EDOM;
}

// Threads of the operating system report nothing.
const doctest::skip on_fibers(detail::machine::fibers_are_threads);

// Memcheck counts the fault itself as an error, and its leak check, when such a child exits, reads the guard page.
const doctest::skip outside_valgrind(detail::machine::fibers_are_threads || hocket_test::runs_in_valgrind());

}  // namespace

TEST_CASE("fault 27: a handler that takes a siginfo comes after the report, with the same siginfo" * outside_valgrind) {
  const child_end end = die([] {
    install(informed([](int signal, siginfo_t* info, void* state) {
      say(signal == SIGSEGV && info->si_code > 0 && info->si_addr && state ? "mine\n" : "wrong\n");
      ::_exit(3);
    }));
    run_fiber(recur);
  });
  CHECK(end.how == "exit code 3");
  CHECK_HOLDS(end.errors, report);
  CHECK(end.errors.ends_with("page\nmine\n"));
}

TEST_CASE("fault 27: a plain handler is called, once if it asked for that, with the signals blocked that it named" *
          on_fibers) {
  const child_end end = die([] {
    struct sigaction once{};
    once.sa_handler = [](int) {
      sigset_t blocked;
      ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
      say(::sigismember(&blocked, SIGUSR1) && !::sigismember(&blocked, SIGSEGV) ? "once\n" : "wrong\n");
    };
    once.sa_flags = static_cast<int>(SA_RESETHAND) | SA_NODEFER;
    ::sigaddset(&once.sa_mask, SIGUSR1);
    install(once);
    run_fiber(recur);
  });
  CHECK(end.how == segmentation_fault);
  CHECK(end.errors.find("once\n") == end.errors.rfind("once\n"));
  CHECK_HOLDS(end.errors, "once\n");
}

TEST_CASE("fault 27: a fault that was ignored is not" * on_fibers) {
  const child_end end = die([] {
    std::signal(SIGSEGV, SIG_IGN);
    run_fiber(recur);
  });
  CHECK(end.how == segmentation_fault);
  CHECK_HOLDS(end.errors, report);
}

TEST_CASE("fault 27: a fault that is no overflow: nothing is said, the process dies of it" * on_fibers) {
  CHECK(die([] { run_fiber([] { touch(8); }); }).how == segmentation_fault);
  CHECK(die([] { run_fiber([] { touch(8); }); }).errors.empty());
  CHECK(die([] { run_fiber([] {}), touch(8); }).errors.empty());
  const child_end other_thread = die([] {
    run_fiber([] {});
    std::thread([] { touch(8); }).join();
  });
  CHECK(other_thread.how == segmentation_fault);
  CHECK(other_thread.errors.empty());
}

TEST_CASE("fault 27: a handler that repairs the fault goes on to do so, and errno stays" * outside_valgrind) {
  const child_end end = die([] {
    closed_page = static_cast<std::byte*>(::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    install(informed(open_page));
    run_fiber([] {
      errno = ENOENT;
      touch(reinterpret_cast<std::uintptr_t>(closed_page));
      if (errno != ENOENT) ::_exit(5);
    });
  });
  CHECK(end.how == returned);
  CHECK(end.errors.empty());
}

TEST_CASE("fault 27: a signal that somebody sends has its old effect" * on_fibers) {
  CHECK(die([] { run_fiber([] { std::raise(SIGSEGV); }); }).how == segmentation_fault);
  CHECK(die([] { run_fiber([] { std::raise(SIGBUS); }); }).how == "killed by Bus error");
  CHECK(die([] {
          std::signal(SIGSEGV, SIG_IGN);
          run_fiber([] { std::raise(SIGSEGV); });
        }).how == returned);
}

TEST_CASE("fault 27: of the overflow of a thread's own stack the thread is named" * on_fibers) {
  const child_end end = die([] {
    std::thread([] {
      ::pthread_setname_np(::pthread_self(), "worker-3");
      run_fiber([] {});
      recur();
    }).join();
  });
  CHECK(end.how == segmentation_fault);
  if (die([] { run_fiber(recur); }).errors.find("bytes in use") == std::string::npos) return;  // no stack pointer here
  CHECK_HOLDS(end.errors, "the stack of a thread overflowed [thread worker-3]");
  CHECK_HOLDS(end.errors, "call_on_big_stack");
}

TEST_CASE("fault 27: switched off before the first coroutine, nothing is installed") {
  const child_end end = die([] {
    set_overflow_report(false);
    run_fiber([] {});
    struct sigaction now{};
    ::sigaction(SIGSEGV, nullptr, &now);
    stack_t alternate{};
    ::sigaltstack(nullptr, &alternate);
    if (now.sa_handler != SIG_DFL || !(alternate.ss_flags & SS_DISABLE)) ::_exit(5);
    run_fiber(recur);
  });
  CHECK(end.how == segmentation_fault);
  CHECK(end.errors.empty());
}

TEST_CASE("fault 27: switched off later it is silent, and on again it is not" * on_fibers) {
  const child_end off = die([] {
    run_fiber([] { set_overflow_report(false); });
    run_fiber(recur);
  });
  CHECK(off.how == segmentation_fault);
  CHECK(off.errors.empty());
  const child_end on = die([] {
    set_overflow_report(false);
    set_overflow_report(true);
    run_fiber(recur);
  });
  CHECK_HOLDS(on.errors, report);
}

TEST_CASE("fault 27: a thread keeps the alternate stack that it has, and else gets one until it ends" * on_fibers) {
  const child_end end = die([] {
    std::thread([] {
      static std::byte own[64 * 1024];
      stack_t given{};
      given.ss_sp = own;
      given.ss_size = sizeof own;
      ::sigaltstack(&given, nullptr);
      run_fiber([] {});
      stack_t now{};
      ::sigaltstack(nullptr, &now);
      if (now.ss_sp != own) ::_exit(5);
      stack_t none{};
      none.ss_flags = SS_DISABLE;
      ::sigaltstack(&none, nullptr);
    }).join();
    static std::byte* lent = nullptr;
    std::thread([] {
      run_fiber([] {});
      stack_t now{};
      ::sigaltstack(nullptr, &now);
      if (now.ss_flags & SS_DISABLE || now.ss_size < 16 * 1024) ::_exit(6);
      lent = static_cast<std::byte*>(now.ss_sp);
    }).join();
    unsigned char there = 0;
    if (::mincore(lent, 4096, &there) == 0 || errno != ENOMEM) ::_exit(7);  // unmapped
  });
  CHECK(end.how == returned);
}
