// Hibernation of raw coroutines: the kept state, the returned memory, and the coroutines that it leaves alone.
#include <hocket/context/seam/switch.hpp>
#include <hocket/fiber/call_on_stack.hpp>
#include <hocket/fiber/coroutine.hpp>
#include <hocket/fiber/hibernate.hpp>

#include "support/death.hpp"

#include <cerrno>
#include <cstring>
#include <doctest/doctest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

constexpr bool works = !detail::machine::fibers_are_threads;

// Yields the address of a variable on its stack, then checks that everything is where it was.
int remember(coroutine<std::byte*()>::self& self, int seed) {
  std::byte marks[200];
  for (std::size_t i = 0; i < sizeof marks; ++i) marks[i] = std::byte(static_cast<unsigned char>(seed + int(i)));
  std::byte* const own = marks;
  std::string text = "a string of " + std::to_string(seed) + " that is too long for the small buffer";
  std::string small = "short";
  const char* inside = small.data();
  self.yield(marks);
  int wrong = own != marks || inside != small.data() || small != "short";
  for (std::size_t i = 0; i < sizeof marks; ++i)
    wrong += marks[i] != std::byte(static_cast<unsigned char>(seed + int(i)));
  return wrong + (text != "a string of " + std::to_string(seed) + " that is too long for the small buffer");
}

auto rememberer(int seed, int& wrong) {
  return coroutine<std::byte*()>{{.name = "rememberer", .user_data = &wrong}, [seed, &wrong](auto& self) -> std::byte* {
                                   wrong = remember(self, seed);
                                   return nullptr;
                                 }};
}

// Whether the kernel can read there.
bool readable(const void* address) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const bool is = ::write(ends[1], address, 1) == 1;
  if (!is) CHECK(errno == EFAULT);
  ::close(ends[0]);
  ::close(ends[1]);
  return is;
}

// Writes on each page that is that far below on the stack, and gives the address of the lowest.
[[gnu::noinline]] std::byte* touch_below(std::size_t size) {
  auto* room = static_cast<volatile std::byte*>(__builtin_alloca(size));
  for (std::size_t at = 0; at < size; at += 512) room[at] = std::byte{1};
  const auto lowest = reinterpret_cast<std::uintptr_t>(room) / 4096 * 4096 + 4096;
  return reinterpret_cast<std::byte*>(lowest);
}

bool is_resident(const std::byte* page) {
  unsigned char state = 0;
  REQUIRE(::mincore(const_cast<std::byte*>(page), 1, &state) == 0);
  return (state & 1) != 0;
}

struct witness {
  std::string* log;
  ~witness() { *log += "gone"; }
};

}  // namespace

TEST_CASE("a coroutine that hibernates finds everything where it was") {
  int wrong = -1;
  auto one = rememberer(7, wrong);
  std::byte* mark = one.resume();
  const auto before = hibernation_usage();
  REQUIRE(hibernate(one) == works);
  if (!works) return;
  CHECK(hibernation_usage().packed == before.packed + 1);
  CHECK(hibernation_usage().image_bytes > before.image_bytes + 200);
  CHECK(hibernation_usage().image_bytes < before.image_bytes + 4096 + 2 * detail::machine::kept_below_record);
  CHECK(one.status() == coroutine_status::suspended);
  CHECK_FALSE(one.done());
  CHECK(std::string(one.name()) == "rememberer");
  CHECK(one.user_data() == &wrong);
  one.set_user_data(&mark);
  CHECK_FALSE(hibernate(one));  // it does already
  CHECK(one.resume() == nullptr);
  CHECK(one.user_data() == &mark);
  CHECK(wrong == 0);
  CHECK(one.done());
  CHECK(hibernation_usage().packed == before.packed);
  CHECK(hibernation_usage().unpacks == before.unpacks + 1);
  CHECK(hibernation_usage().image_bytes == before.image_bytes);
}

TEST_CASE("its pages are given back, and a stray access to them faults") {
  coroutine<std::byte*()> one{[](auto& self) -> std::byte* {  // a sanitizer may keep variables elsewhere, frames not
    self.yield(static_cast<std::byte*>(__builtin_frame_address(0)));
    return nullptr;
  }};
  std::byte* frame = one.resume();
  CHECK(readable(frame));
  REQUIRE(hibernate(one) == works);
  if (!works) return;
  if (readable(frame)) CHECK(*const_cast<const volatile std::byte*>(frame) == std::byte{0});  // no guard markers here
  CHECK(one.resume() == nullptr);
}

TEST_CASE("frames of several pages fault on each of them, and come back whole") {
  const volatile std::size_t unknown = 3 * 4096;  // so that no sanitizer keeps that elsewhere
  const std::size_t size = unknown;
  bool whole = false;
  coroutine<std::byte*()> one{[&](auto& self) -> std::byte* {
    auto* room = static_cast<std::byte*>(__builtin_alloca(size));
    for (std::size_t i = 0; i < size; ++i) room[i] = std::byte(i / 64 + i);
    self.yield(room);
    whole = true;
    for (std::size_t i = 0; i < size; ++i) whole = whole && room[i] == std::byte(i / 64 + i);
    return nullptr;
  }};
  std::byte* room = one.resume();
  REQUIRE(hibernate(one) == works);
  const bool guarded = works && !readable(room);
  for (std::size_t at = 0; at < size; at += 1024) CHECK(readable(room + at) == !guarded);
  CHECK(readable(room + size - 1) == !guarded);
  one.resume();
  CHECK(whole);
}

TEST_CASE("pages that a deep call used before are given back, too") {
  coroutine<std::byte*()> one{[](auto& self) -> std::byte* {
    self.yield(touch_below(8 * 4096));
    return nullptr;
  }};
  const std::byte* deep = one.resume();
  CHECK(is_resident(deep));
  REQUIRE(hibernate(one) == works);
  CHECK(is_resident(deep) == !works);
  one.resume();
}

TEST_CASE("a page that is locked stays, and nothing else does because of it") {
  int wrong[3] = {-1, -1, -1};
  std::vector<coroutine<std::byte*()>> all;
  std::vector<std::byte*> deep;
  for (int& each : wrong)
    all.emplace_back([&each](auto& self) -> std::byte* {
      self.yield(touch_below(8 * 4096));
      each = remember(self, 5);
      return nullptr;
    });
  for (auto& each : all) {
    deep.push_back(each.resume());
    each.resume();
  }
  if (::syscall(SYS_mlock, deep[0], 1) != 0)
    return;  // this process may lock nothing (sanitizers have a mlock of theirs)
  CHECK(hibernate(all) == (works ? 3 : 0));
  CHECK(is_resident(deep[0]));
  CHECK(is_resident(deep[1]) == !works);
  CHECK(is_resident(deep[2]) == !works);
  for (auto& each : all) each.resume();
  for (int each : wrong) CHECK(each == 0);
  CHECK(::syscall(SYS_munlock, deep[0], 1) == 0);
}

TEST_CASE("several at once") {
  constexpr int n = 700;
  std::vector<int> wrong(n, -1);
  std::vector<coroutine<std::byte*()>> all;
  for (int i = 0; i < n; ++i) {
    all.push_back(rememberer(i, wrong[std::size_t(i)]));
    all.back().resume();
  }
  all[5].resume();  // finished
  CHECK(hibernate(all) == (works ? n - 1 : 0));
  CHECK(hibernate(all) == 0);
  for (int i = n; i-- > 0;)
    if (i != 5) all[std::size_t(i)].resume();
  for (int i = 0; i < n; ++i) CHECK(wrong[std::size_t(i)] == 0);
}

TEST_CASE("what cannot hibernate says so") {
  coroutine<int()> empty;
  CHECK_FALSE(hibernate(empty));

  coroutine<int()>* self_address = nullptr;
  bool itself = true;
  coroutine<int()> running{[&](auto&) -> int {
    itself = hibernate(*self_address);
    return 1;
  }};
  self_address = &running;
  running.resume();
  CHECK_FALSE(itself);
  CHECK_FALSE(hibernate(running));  // finished

  coroutine<int()> on_two_stacks{[](auto& self) -> int {
    call_on_big_stack([&] { self.yield(1); });
    self.yield(2);
    return 3;
  }};
  on_two_stacks.resume();
  CHECK_FALSE(hibernate(on_two_stacks));
  on_two_stacks.resume();
  CHECK(hibernate(on_two_stacks) == works);
  CHECK(on_two_stacks.resume() == 3);

  coroutine<int()> large{[](auto& self) -> int {
    const volatile std::size_t size = 20 * 1024;  // so that no sanitizer keeps that elsewhere
    auto* room = static_cast<volatile char*>(__builtin_alloca(size));
    room[1] = 0;
    room[2] = 0;
    self.yield(room[1]);
    return room[2];
  }};
  large.resume();
  CHECK_FALSE(hibernate(large));
}

TEST_CASE("an unstarted coroutine hibernates, callable and all") {
  std::string captured = "captured, and longer than the small buffer of a string";
  coroutine<std::size_t(int)> one{[captured](auto&, int more) { return captured.size() + std::size_t(more); }};
  CHECK(hibernate(one) == works);
  CHECK(one.status() == coroutine_status::unstarted);
  CHECK(one.resume(2) == captured.size() + 2);
}

TEST_CASE("destroyed while it hibernates, it unwinds") {
  std::string log;
  {
    coroutine<int()> one{[&](auto& self) -> int {
      witness last{&log};
      self.yield(1);
      return 2;
    }};
    one.resume();
    CHECK(hibernate(one) == works);
    auto moved = std::move(one);
    CHECK(log.empty());
  }
  CHECK(log == "gone");

  coroutine<void()> unstarted{[last = std::make_unique<witness>(&log)](auto&) {}};
  hibernate(unstarted);
  unstarted.reset();
  CHECK(log == "gonegone");
}

TEST_CASE("given up as a handle, it can still hibernate and be destroyed") {
  std::string log;
  coroutine<void()> one{[&](auto& self) {
    witness last{&log};
    self.yield();
    self.yield();
  }};
  one.resume();
  hibernate(one);
  std::coroutine_handle<> handle = one.release();
  handle.resume();
  CHECK(log.empty());
  handle.destroy();
  CHECK(log == "gone");
}

TEST_CASE("one that yields inside a catch block keeps its exception") {
  coroutine<int()> one{[](auto& self) -> int {
    try {
      throw std::runtime_error("first");
    } catch (const std::runtime_error&) {
      self.yield(1);
      try {
        throw;
      } catch (const std::runtime_error& again) {
        return std::strcmp(again.what(), "first") == 0 ? 2 : 3;
      }
    }
  }};
  one.resume();
  hibernate(one);
  CHECK(one.resume() == 2);
}

TEST_CASE("stacks with a canary hibernate, and keep it") {
  stack_pool pool{{.stack_size = 8 * 1024, .protection = guard::canary}};
  int wrong = -1;
  {
    coroutine<std::byte*()> one{pool, [&](auto& self) -> std::byte* {
                                  wrong = remember(self, 3);
                                  return nullptr;
                                }};
    one.resume();
    CHECK(hibernate(one) == works);
    one.resume();
  }
  CHECK(wrong == 0);
}

TEST_CASE("again and again") {
  coroutine<int()> counter{[](auto& self) -> int {
    for (int i = 0;; ++i) self.yield(i);
  }};
  for (int i = 0; i < 100; ++i) {
    CHECK(counter.resume() == i);
    if (i % 3) hibernate(counter);
  }
}

TEST_CASE("only its own thread may bring it back") {
  if (!works) return;
  expect_fatal(
      [] {
        coroutine<int()> one{[](auto& self) -> int {
          self.yield(1);
          return 2;
        }};
        one.resume();
        hibernate(one);
        std::thread([&] { one.reset(); }).join();
      },
      "a coroutine was destroyed by another thread");
}
