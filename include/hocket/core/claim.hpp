// The claim word: who may end a wait, and when its memory is free again.
//
// One wait can be ended by several parties at once: a primitive grants it, a deadline passes, a stop source fires, a
// scope kills it. A claim makes exactly one of them the winner, and tells which of the others is the last to let go.
//
// Words. A wait *registers* with sources: the list of a primitive, a timer service, a stop source. The coroutine that
// waits is the *registrar*; it is *registering* until it commits. It and each registration *hold* the claim. A source
// that pops a registration takes its hold over and *settles* the claim.
//
//   bits 0..3   verdict
//   bit  4      registering
//   bits 8..31  holds
//
//   idle --arm--> armed --settle--> granted | cancelled | timed_out | killed --(the next arm)--> armed
//                 |   ^
//     settle_both |   | the second was lost
//      (the first)v   |
//                reserved --the second was won too--> granted
//
// Who may touch what. Only the registrar arms, and only when no hold is left. Any holder may settle. Who has dropped
// its hold never touches the claim (or the waiter, or the awaiter around them) again, and the holder that drops the
// last one posts the coroutine. So the coroutine cannot run, return and free the claim while a loser still looks at it:
// a loser needs no lock, and nobody ever waits for a loser.
//
// Who lets the other registrations go. The winner, if the registrar has committed. A winner that comes earlier
// (`early`) must not read the registrations, which are still being made: it drops its hold and is gone; the registrar
// finds the verdict when it commits, and lets go itself. The bit and the verdict change in one word, so exactly one of
// the two does it.
//
// Two selects that meet (a send that finds a receive) must win both claims or none. settle_both takes them in address
// order: the first goes armed -> reserved, then the second is settled; on failure the first goes back. Parties that
// meet `reserved` spin until it is decided, a few operations of a running thread away; the address order makes a cycle
// of such waits impossible.
#pragma once
#include <hocket/base/atomic.hpp>

namespace hocket::inline HOCKET_ABI {

enum class verdict : std::uint8_t { idle, armed, reserved, granted, cancelled, timed_out, killed };

// What a settling party learns: somebody else won; it won; it won while the registrar was still registering.
enum class settlement : std::uint8_t { lost, won, early };

class claim {
 public:
  claim() noexcept = default;
  claim(const claim&) = delete;
  claim& operator=(const claim&) = delete;

  // Registrar only: armed and registering, with the registrar's own hold.
  void arm() noexcept;

  // Registrar only, before the registration that takes the hold becomes visible to others.
  void hold() noexcept;

  // Registrar only: ends the registering. True: the wait goes on and the registrar's hold is gone; it must not touch
  // the claim again. False: the wait is decided; the registrar keeps its hold, lets the registrations go and drops.
  [[nodiscard]] bool commit() noexcept;

  // Any holder: tries to become the winner. Keeps the caller's hold.
  [[nodiscard]] settlement settle(verdict outcome) noexcept;

  // A holder of both: grants both or none (both lost). The claims are two different ones.
  struct both {
    settlement one;
    settlement other;
  };
  [[nodiscard]] static both settle_both(claim& one, claim& other) noexcept;

  // Any holder: drops `count` holds, its own and those of registrations that it detached. True for the last: the
  // caller must post the coroutine, or go on running it if the caller is the registrar.
  [[nodiscard]] bool drop(std::uint32_t count = 1) noexcept;

  verdict outcome() const noexcept;
  bool held() const noexcept;

 private:
  static constexpr std::uint32_t verdict_mask = 0xf;
  static constexpr std::uint32_t registering = 0x10;
  static constexpr std::uint32_t one_hold = 0x100;

  settlement swing(verdict& from, verdict to) noexcept;

  atomic<std::uint32_t> word_{0};
};

}  // namespace hocket::inline HOCKET_ABI
