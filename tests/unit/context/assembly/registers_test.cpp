// Every register, over each form of the switch, on both sides. kept_registers.hpp, in a folder named after the
// architecture, says which registers a call preserves, fills them, and spoils the others.
#include "unit/context/strand.hpp"

#include "kept_registers.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

using namespace hocket;
using hocket_test::call_with;
using hocket_test::kept_count;
using hocket_test::kept_names;
using hocket_test::kept_registers;
using hocket_test::stack_memory;

namespace {

using form = detail::machine::arrival (*)(void*, void*);

// Around the inline forms the compiler saves what they are said to clobber, and nothing else.
[[gnu::noinline]] detail::machine::arrival inlined(void* to, void* transfer) {
  return detail::machine::switch_to(to, transfer);
}

[[gnu::noinline]] void genuine_call() { asm volatile(""); }
[[gnu::noinline]] detail::machine::arrival inlined_in_caller(void* to, void* transfer) {
  genuine_call();
  return detail::machine::switch_to_in_caller(to, transfer);
}

constexpr form forms[] = {&detail::machine::hocket_switch, &inlined, &inlined_in_caller};

kept_registers values(std::uint64_t seed) {
  kept_registers made{};
  for (std::size_t i = 0; i < kept_count; ++i) made.value[i] = seed * 1000 + i;
  return made;
}

std::string lost(const kept_registers& before, const kept_registers& after) {
  std::string names;
  for (std::size_t i = 0; i < kept_count; ++i)
    if (before.value[i] != after.value[i]) names += std::string(names.empty() ? "" : " ") + kept_names[i];
  return names;
}

// A stack with registers full of its own values, which switches by one form until the test ends it.
struct other_side {
  form go;
  std::string lost{};

  static void run(void* argument, void* from, void* end) {
    auto& self = *static_cast<other_side*>(argument);
    for (std::uint64_t seed = 100; !end; ++seed) {
      kept_registers registers = values(seed);
      detail::machine::arrival back = call_with(registers, self.go, from, nullptr);
      self.lost += ::lost(values(seed), registers);
      from = back.from;
      end = back.transfer;
    }
    detail::machine::leave(from, nullptr);
  }
};

using pair = std::uint64_t __attribute__((vector_size(16)));

bool equal(std::uint64_t a, std::uint64_t b) { return a == b; }
bool equal(double a, double b) { return a == b; }
bool equal(pair a, pair b) { return a[0] == b[0] && a[1] == b[1]; }

// More values than there are registers, alive over a switch in one function: where the list of what is clobbered
// forgets a register, the compiler keeps one of them there. Which values, it cannot know.
template <class Value, std::size_t... I>
[[gnu::noinline]] bool all_survive(void*& record, volatile Value* source, std::index_sequence<I...>) {
  auto over_a_switch = [&](auto... kept) {
    record = detail::machine::switch_to(record, nullptr).from;
    return (equal(kept, source[I]) && ...);
  };
  return over_a_switch(Value(source[I])...);
}

template <class Value>
bool many_survive(void*& record) {
  constexpr std::size_t many = 40;
  volatile Value source[many];
  for (std::size_t i = 0; i < many; ++i) source[i] = Value{} + static_cast<unsigned char>(7 + i);
  return all_survive(record, source, std::make_index_sequence<many>());
}

}  // namespace

TEST_SUITE_BEGIN("registers" *
                 doctest::skip(detail::sanitizer != detail::sanitizer_kind::plain));  // they do not know these stacks

TEST_CASE("every register that a call preserves survives, by each form on each side") {
  for (form mine : forms) {
    for (form others : forms) {
      other_side other{others};
      stack_memory memory(65536);
      void* record = memory.prepare(&other_side::run, &other);
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        kept_registers registers = values(seed);
        record = call_with(registers, mine, record, seed == 3 ? &other : nullptr).from;
        CHECK(lost(values(seed), registers) == "");
      }
      CHECK(record == nullptr);
      CHECK(other.lost == "");
    }
  }
}

TEST_CASE("a register that is lost is missed: each word that a record keeps is one of them") {
  static std::size_t word;
  struct spoiler {
    static void run(void*, void* from, void*) {
      static_cast<std::uint64_t*>(from)[word] ^= 1;
      detail::machine::leave(from, nullptr);
    }
  };
  for (std::size_t i = 0; i < kept_count; ++i) {
    word = hocket_test::kept_words[i];
    stack_memory memory(65536);
    kept_registers registers = values(1);
    call_with(registers, &detail::machine::hocket_switch, memory.prepare(&spoiler::run, nullptr), nullptr);
    CHECK(lost(values(1), registers) == kept_names[i]);
  }
}

TEST_CASE("what a compiler keeps in registers survives, when the other side has spoiled all of them") {
  other_side other{&detail::machine::hocket_switch};
  stack_memory memory(65536);
  void* record = memory.prepare(&other_side::run, &other);
  CHECK(many_survive<std::uint64_t>(record));
  CHECK(many_survive<double>(record));
  CHECK(many_survive<pair>(record));
  record = detail::machine::switch_to(record, &other).from;
  CHECK(record == nullptr);
  CHECK(other.lost == "");
}

TEST_SUITE_END();
