// The conformance test of the porting contract (context/switch.hpp): what a back end must pass to be one.
#include <hocket/context/exception_globals.hpp>
#include <hocket/context/platform/annotation.hpp>
#include <hocket/context/switch.hpp>

#include <doctest/doctest.h>

#include <cfenv>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <thread>

using namespace hocket;

namespace {

// A stack, and the little that a fiber needs on top of the switch. `step` switches to it and notes where it parked.
class strand {
 public:
  using body = void (*)(strand& self);

  explicit strand(body run) : run_(run) {
    annotation_.on_acquire(memory_.get(), size);
    record_ = machine::prepare(memory_.get() + size, &strand::entry, this);
  }
  ~strand() { annotation_.on_release(); }

  void* step(void* transfer = nullptr) {
    annotation_.before_resume();
    machine::arrival back = machine::switch_to(record_, transfer);
    annotation_.after_resume();
    record_ = back.from;
    return back.transfer;
  }
  void* yield(void* transfer = nullptr) {
    annotation_.before_yield();
    machine::arrival back = machine::switch_to(resumer_, transfer);
    annotation_.after_yield();
    resumer_ = back.from;
    return back.transfer;
  }
  bool on_stack(const void* address) const {
    auto at = static_cast<const char*>(address);
    return at >= memory_.get() && at < memory_.get() + size;
  }

  void* first_transfer = nullptr;
  void* argument_seen = nullptr;
  std::uintptr_t frame_misalignment = 1;
  bool done = false;

 private:
  static constexpr std::size_t size = 256 * 1024;

  static void entry(void* argument, void* from, void* transfer) {
    auto& self = *static_cast<strand*>(argument);
    self.annotation_.on_entry();
    self.resumer_ = from;
    self.argument_seen = argument;
    self.first_transfer = transfer;
    self.run_(self);
    self.done = true;
    self.annotation_.before_leave();
    machine::leave(self.resumer_, nullptr);
  }

  std::unique_ptr<char[]> aligned_ = std::make_unique<char[]>(size + 64);
  struct view {
    char* at;
    char* get() const { return at; }
  } memory_{aligned_.get() + (64 - reinterpret_cast<std::uintptr_t>(aligned_.get()) % 64)};
  body run_;
  void* record_ = nullptr;
  void* resumer_ = nullptr;
  switch_annotation annotation_;
};

}  // namespace

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
  if (sanitizer == sanitizer_kind::plain) CHECK(s.on_stack(local));
  CHECK(s.frame_misalignment == 0);
  s.step();
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

// A leaf may keep data in the 128 bytes below its stack pointer. The general form must step over them; this function
// has no call, so that a compiler is free to use the red zone for `kept`.
[[gnu::noinline]] static std::uint64_t leaf_with_data(void*& record, std::uint64_t seed) {
  volatile std::uint64_t kept[12];
  for (unsigned i = 0; i < 12; ++i) kept[i] = seed * (i + 1);
  record = machine::switch_to(record, nullptr).from;
  std::uint64_t sum = 0;
  for (unsigned i = 0; i < 12; ++i) sum += kept[i];
  return sum;
}

TEST_CASE("the red zone of a leaf that switches is untouched" * doctest::skip(sanitizer != sanitizer_kind::plain)) {
  static std::uint64_t inner;
  struct body {
    static void run(void*, void* from, void*) {
      void* back = from;
      for (;;) inner = leaf_with_data(back, 5);
    }
  };
  auto memory = std::make_unique<char[]>(65536);
  char* top = memory.get() + 65536 - reinterpret_cast<std::uintptr_t>(memory.get()) % 64;
  void* record = machine::prepare(top, &body::run, nullptr);
  for (std::uint64_t i = 1; i < 100; ++i) CHECK(leaf_with_data(record, i) == i * 78);
  CHECK(inner == 5 * 78);
}

TEST_CASE("either form goes on at a stack that the other one parked") {
  strand s([](strand& self) {
    for (int i = 0; i < 4; ++i) self.yield();
  });
  s.step();
  s.step();
  static void* resumer;
  auto memory = std::make_unique<char[]>(65536);
  char* top = memory.get() + 65536 - reinterpret_cast<std::uintptr_t>(memory.get()) % 64;
  struct body {
    static void run(void*, void* from, void*) {
      resumer = machine::hocket_switch(from, nullptr).from;  // out of line, resumed by the inline form
      resumer = machine::switch_to(resumer, nullptr).from;   // inline, resumed by the out-of-line form
      machine::leave(resumer, nullptr);
    }
  };
  if (sanitizer == sanitizer_kind::plain) {
    void* record = machine::prepare(top, &body::run, nullptr);
    record = machine::switch_to(record, nullptr).from;
    record = machine::switch_to(record, nullptr).from;
    machine::hocket_switch(record, nullptr);
  }
  s.step();
  s.step();
  s.step();
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

TEST_CASE("a stack starts on one thread and goes on on another" *
          doctest::skip(sanitizer == sanitizer_kind::tsan)) {  // the strand's annotations belong to one thread
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
  const void* here = machine::thread_id();
  const void* there = nullptr;
  std::thread([&] { there = machine::thread_id(); }).join();
  CHECK(here == machine::thread_id());
  CHECK(here != there);
}

TEST_CASE("the rounding mode is the thread's, not the stack's: it stays where it was set") {
  // The contract leaves mxcsr and the x87 control word alone: a stack that changes them changes them for its thread.
  strand s([](strand& self) {
    std::fesetround(FE_UPWARD);
    self.yield();
    std::fesetround(FE_TONEAREST);
  });
  s.step();
  CHECK(std::fegetround() == FE_UPWARD);
  s.step();
  CHECK(std::fegetround() == FE_TONEAREST);
}

TEST_CASE("the exception globals are this thread's and empty outside of handlers") {
  exception_globals& mine = current_exception_globals();
  CHECK(&mine == &current_exception_globals());
  CHECK(mine.empty());
  try {
    throw 1;
  } catch (int) {
    CHECK_FALSE(mine.empty());
  }
  CHECK(mine.empty());
  struct probe {
    exception_globals& globals;
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
