// Fibers that hold words while they wait, and a thread that runs them: is every word in the root set?
//
// Six fibers hold a word each, in a callee-saved register of which each has another one, while they wait. The thread
// holds one, too, below all its frames. Something stops the thread inside of drive() and calls look() with its
// registers: step_test.cpp at each instruction, interrupt_test.cpp at some. look() searches where a collector would: in
// the registers, on the stack that the thread is stopped on, from the stack pointer and the red zone on, and in the
// ranges of for_each_stack(). A word that is nowhere is a lost object.
#pragma once
#include <hocket/core/spawn_options.hpp>
#include <cstdint>

namespace hocket_test {

// What the fibers do, round by round.
void yields();
void waits();
void calls();
void waits_in_a_call();
void mixes();
void resumes_raw_ones();
void bears();

struct scene {
  void (*round)();
  hocket::spawn_options options = {};
  void (*between)() = [] {};  // the thread does that after each of its turns
  bool (*goes_on)(int done);  // whether a fiber does another round
  void (*begin)();            // of what calls look()
  void (*end)();
};

struct findings {
  long looks = 0;
  long lost = 0;  // looks that did not find all words
  long with_unknown_depth = 0;
  std::uintptr_t first_loss = 0;  // the address of the instruction
};

findings play(const scene& what);

// In a signal handler, with what that is given; on a stack of its own (handle()), so that the signal leaves no trace on
// the stack that is looked at.
void look(const void* context) noexcept;

// `handler` calls look(). Aborts if it cannot be installed.
void handle(int signal, void (*handler)(void* context));

// What look() has found since play() began.
const findings& found() noexcept;

}  // namespace hocket_test
