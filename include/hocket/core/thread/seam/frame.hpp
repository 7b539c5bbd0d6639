// What every coroutine frame begins with, and the only place where a frame address becomes a handle.
//
// A std::coroutine_handle<> is a pointer to a frame whose first two words are the functions *resume* and *destroy*;
// a null *resume* means done. Every compiler in use lays frames out so (WG21 P3203 records it). A fiber's control
// block begins with the same two words, hence a suspended fiber is a coroutine_handle<> as well:
//
//     compiler's frame                 fiber's control block
//     +0   resume                      +0   resume            (assembly stub)
//     +8   destroy                     +8   destroy           (assembly stub)
//     +16  promise:                    +16
//          coroutine_header                 coroutine_header
//          the promise's own                the switch's own
//     ...  parameters, locals          +64
//
// The header lies at the same offset in both, so a debugger (and `await`) can walk one chain of awaiters through both
// kinds. Foreign frames have no header: ask only for the header of a handle that hocket made.
#pragma once
#include <hocket/base/seam/platform/opaque.hpp>
#include <hocket/core/thread/seam/runnable.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI {

class context;

namespace detail {

struct frame_head {
  void (*resume)(void* frame);
  void (*destroy)(void* frame);
};
static_assert(sizeof(frame_head) == 2 * sizeof(void*), "a frame begins with two function pointers");

enum class coroutine_kind : std::uint8_t { foreign, task, fiber, generator, root };

// Bits of coroutine_header::flags.
namespace header_flag {
inline constexpr std::uint8_t parent_has_header = 1;  // continuation.handle is a hocket frame: its header may be used
inline constexpr std::uint8_t started = 2;
inline constexpr std::uint8_t finished = 4;
}  // namespace header_flag

// How many synchronous transfers a chain of coroutines may make before it goes through the executor's queue, which
// unwinds the stack: compilers that make no tail call of a transfer leave a frame behind for each. A frame takes 0.1 to
// 2 KB at -O0 and under ASan: 256 of them are far from the end of 8 MiB, and one trip in 256 awaits is not measurable.
inline constexpr std::uint16_t transfer_budget = 256;

// The first base of every promise and control block.
struct coroutine_header {
  coroutine_kind kind = coroutine_kind::foreign;
  std::uint8_t flags = 0;
  std::uint16_t budget = 0;    // synchronous transfers left before the chain bounces through the executor
  std::uint32_t reserved = 0;  // for the kind's own use
  runnable continuation{};     // who awaits this coroutine (handle: the link that a debugger follows), and where
  context* ctx = nullptr;      // parent, stop, deadline, locals, name: shared with the parent until overridden
};

// Of a coroutine without a home: it goes on wherever what it awaits has ended.
struct migratable_header : coroutine_header {};

// The handle of a hand-made frame. `head` must be the first member of an object that outlives the handle. Where it
// comes from is hidden: a compiler that knows which functions it will call could turn an indirect call into a direct
// one under its private convention for coroutine parts (Clang before mid-2026 does).
inline std::coroutine_handle<> handle_of(frame_head& head) noexcept {
  return std::coroutine_handle<>::from_address(opaque(&head));
}

// The header of a frame that hocket made (a task, a generator, a fiber).
inline coroutine_header& header_of(std::coroutine_handle<> handle) noexcept {
  return std::coroutine_handle<coroutine_header>::from_address(handle.address()).promise();
}

// The same handle, typed by the header: for awaiters that hand a chain's context and budget on.
template <class Header = coroutine_header>
inline std::coroutine_handle<Header> with_header(std::coroutine_handle<> handle) noexcept {
  return std::coroutine_handle<Header>::from_address(handle.address());
}

// True for promises that carry the header where header_of() looks for it.
template <class Promise>
inline constexpr bool has_header = false;
template <class Promise>
  requires std::is_base_of_v<coroutine_header, Promise>
inline constexpr bool has_header<Promise> = alignof(Promise) <= 2 * sizeof(void*);

}  // namespace detail

}}  // namespace hocket
