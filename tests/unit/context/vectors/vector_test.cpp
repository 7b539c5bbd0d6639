// Built with vectors of 512 bits (AVX-512: 32 registers and masks in others; SVE: the registers whose first quarter is
// v0 to v31, and predicates). They are the compiler's to keep values in, and a switch must not lose them. The rest of
// the conformance test is compiled into the same program; avx512/ and sve/ hold the programs that run before it and
// skip it where the processor has none.
#include <hocket/fiber/coroutine.hpp>

#include <doctest/doctest.h>

using namespace hocket;

namespace {

using vector = long __attribute__((vector_size(64)));

struct work {
  vector v[28];
  unsigned long mask;
};

// 28 vectors and a mask live over the switch: more than the 16 registers that SSE and AVX know, and than a call
// preserves.
template <class Switch>
[[gnu::noinline]] bool survives(long seed, Switch&& do_switch) {
  vector v[28];
  for (long i = 0; i < 28; ++i) v[i] = vector{seed, i, seed * i, 1, 2, 3, 4, seed + i};
  vector odd = v[3] & 1;
  auto mask = odd == 1;
  do_switch();
  long wrong = 0;
  for (long i = 0; i < 28; ++i) {
    vector expected = vector{seed, i, seed * i, 1, 2, 3, 4, seed + i};
    for (int k = 0; k < 8; ++k) wrong += v[i][k] != expected[k];
  }
  for (int k = 0; k < 8; ++k) wrong += (mask[k] != 0) != ((v[3][k] & 1) == 1);
  return wrong == 0;
}

}  // namespace

TEST_CASE("vectors in all 32 registers and masks survive a switch, on both sides") {
  bool inside = true;
  coroutine<void()> c{[&](auto& self) {
    for (long i = 0; i < 50; ++i) inside = survives(1000 + i, [&] { self.yield(); }) && inside;
  }};
  bool outside = true;
  for (long i = 0; i <= 50; ++i) outside = survives(i, [&] { c.resume(); }) && outside;
  CHECK(inside);
  CHECK(outside);
  CHECK(c.done());
}
