// The conformance test of the porting contract (context/seam/switch.hpp): what a back end must pass to be one.
#include <hocket/context/detail/exception_globals.hpp>
#include <hocket/context/seam/switch.hpp>

#include "unit/context/strand.hpp"

#include <doctest/doctest.h>

#include <cfenv>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <unwind.h>

using namespace hocket;
using hocket_test::stack_memory;
using hocket_test::strand;

TEST_CASE("a fresh stack starts at its entry with its argument and the first transfer") {
  int word = 0;
  strand s([](strand& self) { self.yield(self.first_transfer); });
  CHECK(s.step(&word) == &word);
  CHECK(s.argument_seen == &s);
  s.step();
  CHECK(s.done);
}

TEST_CASE("transfers go both ways, each exactly once") {
  strand s([](strand& self) {
    void* in = self.first_transfer;
    for (int i = 0; i < 5; ++i) in = self.yield(static_cast<char*>(in) + 1);
  });
  char base[16];
  for (int i = 0; i < 5; ++i) CHECK(s.step(base + i) == base + i + 1);
  s.step();
  CHECK(s.done);
}

TEST_CASE("the body runs on its own stack, aligned as a call leaves it") {
  strand s([](strand& self) {
    alignas(16) volatile char local[16] = {};
    self.frame_misalignment = reinterpret_cast<std::uintptr_t>(&local) % 16;
    self.yield(const_cast<char*>(&local[0]));
  });
  void* local = s.step();
  // Under ASan's use-after-return detection the local may be on a fake stack: then only the alignment is checked.
  if (detail::sanitizer == detail::sanitizer_kind::plain)
    CHECK(s.on_stack(local) != detail::machine::fibers_are_threads);
  CHECK(s.frame_misalignment == 0);
  s.step();
}

TEST_CASE("a stack that was prepared and never started is just forgotten") {
  int starts = 0;
  for (int i = 0; i < 100; ++i) strand([](strand&) { FAIL("it ran"); });
  strand s([](strand& self) { ++*static_cast<int*>(self.first_transfer); });
  s.step(&starts);
  CHECK(starts == 1);
}

TEST_CASE("a stack is as large as it was said to be") {
  strand s([](strand& self) {
    volatile char local[200 * 1024];
    for (std::size_t i = 0; i < sizeof local; i += 1024) local[i] = 1;
    self.yield(const_cast<char*>(&local[0]));
  });
  CHECK(static_cast<char*>(s.step())[199 * 1024] == 1);
  s.step();
  CHECK(s.done);
}

TEST_CASE("a stack leaves to one that was never started, which goes back to where the first one came from" *
          doctest::skip(detail::sanitizer != detail::sanitizer_kind::plain)) {  // no annotation speaks of three stacks
  static void* origin;
  static void* got;
  struct body {
    static void first(void* next, void* from, void* transfer) {
      origin = from;
      detail::machine::leave(next, transfer);
    }
    static void second(void*, void* from, void* transfer) {
      got = transfer;
      detail::machine::leave(origin, from);
    }
  };
  stack_memory one(65536), other(65536);
  int word = 0;
  detail::machine::arrival back =
      detail::machine::switch_to(one.prepare(&body::first, other.prepare(&body::second, nullptr)), &word);
  CHECK(got == &word);
  CHECK(back.from == nullptr);
  CHECK(back.transfer == nullptr);
}

TEST_CASE("values in registers survive a switch, whatever the other side computes") {
  struct crunch {
    static std::uint64_t mix(std::uint64_t x) {
      x ^= x >> 33;
      x *= 0xff51afd7ed558ccdULL;
      return x ^ (x >> 29);
    }
    // More live values than there are registers, integer and floating, over the switch.
    static bool run(strand& s, bool inner) {
      std::uint64_t i[20];
      double d[20];
      for (unsigned k = 0; k < 20; ++k) {
        i[k] = mix(k + (inner ? 1000 : 1));
        d[k] = static_cast<double>(i[k] % 100000) / 3.0;
      }
      std::uint64_t a = i[0], b = i[1], c = i[2], e = i[3], f = i[4], g = i[5], h = i[6];
      double x = d[0], y = d[1], z = d[2], w = d[3];
      long double wide = 1.0L / static_cast<long double>(inner ? 3 : 7);
      for (int round = 0; round < 3; ++round) {
        inner ? s.yield() : s.step();
        a += b ^ c;
        b += e;
        c += f;
        e += g;
        f += h;
        g += a;
        h += b;
        x += y * z;
        y += w;
        z -= x;
        w += 0.5;
        wide *= 1.0001L;
      }
      std::uint64_t a2 = i[0], b2 = i[1], c2 = i[2], e2 = i[3], f2 = i[4], g2 = i[5], h2 = i[6];
      volatile double x2 = d[0], y2 = d[1], z2 = d[2], w2 = d[3];
      volatile long double wide2 = 1.0L / static_cast<long double>(inner ? 3 : 7);
      for (int round = 0; round < 3; ++round) {
        a2 += b2 ^ c2;
        b2 += e2;
        c2 += f2;
        e2 += g2;
        f2 += h2;
        g2 += a2;
        h2 += b2;
        x2 = x2 + y2 * z2;
        y2 = y2 + w2;
        z2 = z2 - x2;
        w2 = w2 + 0.5;
        wide2 = wide2 * 1.0001L;
      }
      return a == a2 && b == b2 && c == c2 && e == e2 && f == f2 && g == g2 && h == h2 && x == doctest::Approx(x2) &&
             z == doctest::Approx(z2) && y == y2 && w == w2 && wide == wide2;
    }
  };
  static bool inner_right = false;
  strand s([](strand& self) { inner_right = crunch::run(self, true); });
  CHECK(crunch::run(s, false));
  s.step();
  CHECK(inner_right);
}

// Only an inlined switch shows the compiler that the variable's address has not escaped.
TEST_CASE("what the other side has written is read after a switch, and what this side wrote is written before it") {
  static int shared;
  static int seen;
  stack_memory memory(65536);
  struct body {
    static void run(void*, void* from, void*) {
      for (void* back = from;;) {
        seen = shared;
        shared = 2;
        detail::machine::arrival next = detail::machine::switch_to(back, nullptr);
        back = next.from;
        if (next.transfer) detail::machine::leave(back, nullptr);
      }
    }
  };
  if (detail::sanitizer != detail::sanitizer_kind::plain) return;  // they are not told of this stack
  void* record = memory.prepare(&body::run, nullptr);
  int read[2];
  for (int& value : read) {
    shared = 1;
    record = detail::machine::switch_to(record, nullptr).from;
    value = shared + 10 * seen;
    shared = 3;
  }
  detail::machine::switch_to(record, &record);
  CHECK(read[0] == 12);
  CHECK(read[1] == 12);
}

// A leaf may keep data in the 128 bytes below its stack pointer. The general form must step over them; this function
// has no call, so that a compiler is free to use the red zone for `kept`.
[[gnu::noinline]] static std::uint64_t leaf_with_data(void*& record, std::uint64_t seed) {
  volatile std::uint64_t kept[12];
  for (unsigned i = 0; i < 12; ++i) kept[i] = seed * (i + 1);
  record = detail::machine::switch_to(record, nullptr).from;
  std::uint64_t sum = 0;
  for (unsigned i = 0; i < 12; ++i) sum += kept[i];
  return sum;
}

TEST_CASE("the red zone of a leaf that switches is untouched" *
          doctest::skip(detail::sanitizer != detail::sanitizer_kind::plain)) {
  static constexpr std::uint64_t rounds = 100;
  static std::uint64_t inner;
  struct body {
    static void run(void*, void* from, void*) {
      void* back = from;
      for (std::uint64_t i = 1; i < rounds; ++i) inner = leaf_with_data(back, 5);
      detail::machine::leave(back, nullptr);
    }
  };
  stack_memory memory(65536);
  void* record = memory.prepare(&body::run, nullptr);
  for (std::uint64_t i = 1; i <= rounds; ++i) CHECK(leaf_with_data(record, i) == i * 78);
  CHECK(inner == 5 * 78);
  CHECK(record == nullptr);
}

// For the first local a compiler aligns the frame, because of the second one it cannot find the first from the stack
// pointer: it takes one more register for that, and has it in use over everything in the function.
[[gnu::noinline]] static bool keeps_unusual_locals(strand& s, bool inner, std::size_t size) {
  alignas(128) volatile unsigned char aligned[256];
  auto* variable = static_cast<volatile unsigned char*>(__builtin_alloca(size));
  for (unsigned i = 0; i < 256; ++i) aligned[i] = static_cast<unsigned char>(size + i);
  for (unsigned i = 0; i < size; ++i) variable[i] = static_cast<unsigned char>(3 * size + i);
  inner ? s.yield() : s.step();
  bool right = reinterpret_cast<std::uintptr_t>(&aligned) % 128 == 0;
  for (unsigned i = 0; i < 256; ++i) right = right && aligned[i] == static_cast<unsigned char>(size + i);
  for (unsigned i = 0; i < size; ++i) right = right && variable[i] == static_cast<unsigned char>(3 * size + i);
  return right;
}

TEST_CASE("an over-aligned local and one of variable size survive a switch in the same function") {
  static bool inner_right;
  inner_right = true;
  strand s([](strand& self) {
    for (std::size_t i = 1; i <= 8; ++i) inner_right = keeps_unusual_locals(self, true, i * 37) && inner_right;
  });
  for (std::size_t i = 0; i <= 8; ++i) CHECK(keeps_unusual_locals(s, false, i * 11 + 1));
  CHECK(inner_right);
  CHECK(s.done);
}

TEST_CASE("exceptions are thrown and caught on either stack, with the other one parked in the middle") {
  static int caught;
  caught = 0;
  strand s([](strand& self) {
    for (int i = 0; i < 3; ++i) {
      try {
        self.yield();
        throw std::runtime_error("inner");
      } catch (const std::runtime_error&) {
        ++caught;
      }
    }
  });
  for (int i = 0; i < 4; ++i) {
    s.step();
    try {
      throw i;
    } catch (int value) {
      CHECK(value == i);
    }
  }
  CHECK(caught == 3);
  CHECK(s.done);
}

TEST_CASE("a walk of the frames ends at the first one of the stack") {
  static int frames;
  static _Unwind_Reason_Code end;
  strand s([](strand&) {
    frames = 0;
    end = _Unwind_Backtrace(
        [](_Unwind_Context*, void*) {
          return ++frames < 100 ? _URC_NO_REASON : _URC_NORMAL_STOP;  // it would find the same frame for ever
        },
        nullptr);
  });
  s.step();
  CHECK(end == _URC_END_OF_STACK);
  CHECK(frames >= 2);
  CHECK(frames < 100);
}

TEST_CASE("a stack starts on one thread and goes on on another" *
          doctest::skip(detail::sanitizer ==
                        detail::sanitizer_kind::tsan)) {  // the strand's annotations belong to one thread
  strand s([](strand& self) {
    self.yield();
    self.yield();
  });
  s.step();
  std::thread([&] { s.step(); }).join();
  s.step();
  CHECK(s.done);
}

TEST_CASE("a thread's id is its own and does not change") {
  const void* here = detail::machine::thread_id();
  const void* there = nullptr;
  std::thread([&] { there = detail::machine::thread_id(); }).join();
  CHECK(here == detail::machine::thread_id());
  CHECK(here != there);
}

TEST_CASE("the rounding mode stays where it was set: with the thread, or with the stack") {
  constexpr int outside = detail::machine::keeps_rounding_mode ? FE_TONEAREST : FE_UPWARD;
  static int inside = 0;
  strand s([](strand& self) {
    std::fesetround(FE_UPWARD);
    self.yield();
    inside = std::fegetround();
    std::fesetround(FE_TONEAREST);
  });
  s.step();
  CHECK(std::fegetround() == outside);
  s.step();
  CHECK(inside == FE_UPWARD);
  CHECK(std::fegetround() == FE_TONEAREST);
}

TEST_CASE("the exception globals are this thread's and empty outside of handlers" *
          doctest::skip(detail::machine::fibers_are_threads)) {  // there is nothing to move there
  detail::exception_globals& mine = detail::current_exception_globals();
  CHECK(&mine == &detail::current_exception_globals());
  CHECK(mine.empty());
  try {
    throw 1;
  } catch (int) {
    CHECK_FALSE(mine.empty());
  }
  CHECK(mine.empty());
  struct probe {
    detail::exception_globals& globals;
    bool& seen;
    ~probe() { seen = !globals.empty() && globals.uncaught == 1; }
  };
  bool seen = false;
  try {
    probe p{mine, seen};
    throw 2;
  } catch (int) {
  }
  CHECK(seen);
}
