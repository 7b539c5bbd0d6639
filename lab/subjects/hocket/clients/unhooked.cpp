// What a call costs outside of hooked fibers, on a plain thread and in an unhooked fiber. For comparison libc's
// function, by its address.
//
//   outside         instructions of a call that does not wait; a system call counts as one. The program traces itself
//                   (steps.hpp): the difference of eleven calls and one, divided by ten
//   outside_time    the time of a recv() that finds a byte
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <hocket/core/join_handle.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/hook/hook.hpp>
#include <hocket/runtime/loop.hpp>

#include <string>

#include "../../../harness/clients/steps.hpp"

namespace {

// libc's function of this name, or the program's: the hook.
template <class F>
F* function(F* hooked, const char* name, bool libc) {
  if (!libc) return hooked;
  void* const whole = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  return reinterpret_cast<F*>(dlsym(whole, name));
}

class calls {
 public:
  explicit calls(bool libc)
      : read_(function(&::read, "read", libc)),
        write_(function(&::write, "write", libc)),
        recv_(function(&::recv, "recv", libc)),
        send_(function(&::send, "send", libc)),
        poll_(function(&::poll, "poll", libc)) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends_) != 0) lab::fail("no pair of sockets");
    if (zero_ < 0 || nothing_ < 0) lab::fail("no /dev/zero");
    const char all[4096] = {};
    if (::write(ends_[1], all, sizeof all) < 0) lab::fail("nothing is written");
  }

  void call(std::string_view name, int times) {
    if (name == "recv") again(times, [&] { return recv_(ends_[0], &byte_, 1, 0); });
    else if (name == "send") again(times, [&] { return send_(ends_[0], &byte_, 1, MSG_NOSIGNAL); });
    else if (name == "read") again(times, [&] { return read_(zero_, &byte_, 1); });
    else if (name == "write") again(times, [&] { return write_(nothing_, &byte_, 1); });
    else again(times, [&] { return ssize_t{poll_(&ready_, 1, 0)}; });
  }
  // A recv() that finds a byte: one is sent for each.
  void trips(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) call("recv", 1);
  }
  void fill(std::size_t count) {
    const std::string bytes(count, 'x');
    if (::write(ends_[1], bytes.data(), count) != static_cast<ssize_t>(count)) lab::fail("nothing is written");
  }

 private:
  template <class F>
  static void again(int times, F f) {
    for (int i = 0; i < times; ++i)
      if (f() != 1) lab::fail("a call has not done what it should");
  }

  ssize_t (*read_)(int, void*, std::size_t);
  ssize_t (*write_)(int, const void*, std::size_t);
  ssize_t (*recv_)(int, void*, std::size_t, int);
  ssize_t (*send_)(int, const void*, std::size_t, int);
  int (*poll_)(pollfd*, nfds_t, int);
  int ends_[2] = {-1, -1};
  int zero_ = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  int nothing_ = open("/dev/null", O_WRONLY | O_CLOEXEC);
  pollfd ready_ = {.fd = zero_, .events = POLLIN, .revents = 0};
  char byte_ = 0;
};

// In a fiber that is not hooked, or on the thread.
template <class F>
void where(const std::string& system, F f) {
  if (!system.ends_with("-fiber")) return f();
  hocket::loop loop;
  spawn(loop, f);
  loop.run();
}

bool is_libc(const std::string& system) { return system.starts_with("libc"); }

// The traced process.
int follow_me(const std::string& system, const char* name, int times) {
  calls all(is_libc(system));
  where(system, [&] {
    all.call(name, 2);
    lab::mark();
    all.call(name, times);
    lab::mark();
  });
  return 0;
}

int count(const std::string& system, const lab::request& asked) {
  for (const char* name : {"recv", "send", "read", "write", "poll"}) {
    double found[2] = {};
    const char* const times[2] = {"1", "11"};
    for (int i = 0; i < 2; ++i) {
      const auto steps = lab::steps_of(
          [&] { execl("/proc/self/exe", "unhooked", "followed", system.c_str(), name, times[i], nullptr); });
      if (!steps) return lab::skip(system.c_str(), asked, "the system lets no process be followed");
      found[i] = static_cast<double>(*steps);
    }
    lab::emit(system.c_str(), (std::string("outside_") + name).c_str(), asked.n, "instructions",
              (found[1] - found[0]) / 10);
  }
  return 0;
}

int time(const std::string& system, const lab::request& asked) {
  calls all(is_libc(system));
  where(system, [&] {
    const double ns = lab::median_of_rounds(asked.budget_ns, [&](std::size_t k) {
      double took = 0;
      for (std::size_t left = k * 64; left != 0; left -= 64) {
        all.fill(64);
        took += lab::timed([&] { all.trips(64); });
      }
      return took / 64;
    });
    lab::emit(system.c_str(), "outside_time", asked.n, "ns", ns);
  });
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 5 && std::string_view(argv[1]) == "followed") return follow_me(argv[2], argv[3], std::atoi(argv[4]));
  if (argc != 6) lab::fail("usage: subject <system> <workload> <n> <stack bytes> <budget ms>");
  const lab::request asked = lab::parse(argc - 1, argv + 1);
  return asked.workload == "outside" ? count(argv[1], asked) : time(argv[1], asked);
}
