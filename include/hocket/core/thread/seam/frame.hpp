// The beginning of every coroutine frame, and the only place where a frame address becomes a handle.
//
// A std::coroutine_handle<> is a pointer to a frame whose first two words are the functions *resume* and *destroy*. A
// null *resume* means done. All compilers in use have this layout (WG21 P3203 documents it). A fiber's control block
// begins with the same two words, so a suspended fiber is a coroutine_handle<>, too:
//
//     compiler's frame                 fiber's control block
//     +0   resume                      +0   resume            (assembly stub)
//     +8   destroy                     +8   destroy           (assembly stub)
//     +16  promise:                    +16
//          coroutine_header                 coroutine_header
//          the promise's own                the switch's own
//     ...  parameters, locals          +64
//
// The header is at the same offset in both. So a debugger (and `await`) can follow one chain of awaiters through both
// kinds. Foreign frames have no header: call header_of() only for a handle of hocket.
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
inline constexpr std::uint8_t parent_has_header = 1;  // continuation.handle is a frame of hocket, with a header
inline constexpr std::uint8_t started = 2;
inline constexpr std::uint8_t finished = 4;
}  // namespace header_flag

// The number of synchronous transfers of a chain of coroutines before it goes through the executor's queue, which
// unwinds the stack. Compilers that make no tail call of a transfer leave a stack frame for each. A stack frame takes
// 0.1 to 2 KB at -O0 and under ASan: 256 of them use a small part of 8 MiB, and one trip in 256 awaits is not
// measurable.
inline constexpr std::uint16_t transfer_budget = 256;

// The first base of every promise and control block.
struct coroutine_header {
  coroutine_kind kind = coroutine_kind::foreign;
  std::uint8_t flags = 0;
  std::uint16_t budget = 0;    // synchronous transfers left before the chain bounces through the executor
  std::uint32_t reserved = 0;  // for the coroutine kind
  runnable continuation{};     // the awaiting coroutine (a debugger follows its handle), and its executor
  context* ctx = nullptr;      // shared with the parent until overridden
};

// The header of a coroutine without a home: it continues on the executor where the awaited coroutine ended.
struct migratable_header : coroutine_header {};

// The handle of a hand-made frame. `head` must be the first member of an object that outlives the handle. The compiler
// cannot see its origin: a compiler that knows which functions the handle calls could call them directly, by its
// private convention for coroutine parts (Clang before mid-2026 does).
inline std::coroutine_handle<> handle_of(frame_head& head) noexcept {
  return std::coroutine_handle<>::from_address(opaque(&head));
}

// The header of a frame of hocket (a task, a generator, a fiber).
inline coroutine_header& header_of(std::coroutine_handle<> handle) noexcept {
  return std::coroutine_handle<coroutine_header>::from_address(handle.address()).promise();
}

// The same handle, typed by the header: for awaiters that pass the context and the budget of a chain on.
template <class Header = coroutine_header>
inline std::coroutine_handle<Header> with_header(std::coroutine_handle<> handle) noexcept {
  return std::coroutine_handle<Header>::from_address(handle.address());
}

// True for promises with the header where header_of() expects it.
template <class Promise>
inline constexpr bool has_header = false;
template <class Promise>
  requires std::is_base_of_v<coroutine_header, Promise>
inline constexpr bool has_header<Promise> = alignof(Promise) <= 2 * sizeof(void*);

}  // namespace detail

}}  // namespace hocket
