// The memory of the frames of hocket's coroutine functions: frame memory, or an allocator of the caller.
//
// As with std::generator, a coroutine function that has (std::allocator_arg_t, Alloc, ...) as its first parameters,
// after the object of a member function or lambda, gets its frame from that allocator:
//
//   task<int> parse(std::allocator_arg_t, pool_allocator, std::string_view text);
//   auto t = parse(std::allocator_arg, pool, "...");
//
// The parameter types decide, through std::coroutine_traits: a function with an allocator has another promise type, a
// derived one. So functions without an allocator pay nothing. Any allocator is possible; a stateful one is stored
// behind the frame.
//
// A frame is aligned like memory from operator new, and no supported compiler passes a stricter alignment to operator
// new (docs/decisions/019-alignment-of-frames.md). So the same traits refuse over-aligned parameters by value.
#pragma once
#include <hocket/core/frame_memory.hpp>
#include <coroutine>
#include <string>  // std::allocator_traits; <memory> has it, too, at twice the price
#include <tuple>   // std::allocator_arg_t
#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Base of promises: frames from the thread's frame memory. For coroutines that are created often and resumed seldom.
struct recycled_frame {
  static void* operator new(std::size_t bytes) { return allocate_frame(bytes); }
  static void operator delete(void* frame, std::size_t bytes) noexcept { release_frame(frame, bytes); }
};

// The same for coroutines that are created seldom and resumed often. g++ compiles resume and destroy into one function;
// with the release in line each resume saves a register for it, with a call in tail position none does (three of 26
// instructions of a generator's step).
struct recycled_frame_by_call {
  static void* operator new(std::size_t bytes) { return allocate_frame(bytes); }
  static void operator delete(void* frame, std::size_t bytes) noexcept { release_frame_by_call(frame, bytes); }
};

// Allocates in units of the strictest fundamental alignment, which a frame needs.
struct alignas(__STDCPP_DEFAULT_NEW_ALIGNMENT__) frame_unit {
  std::byte bytes[__STDCPP_DEFAULT_NEW_ALIGNMENT__];
};

constexpr std::size_t frame_units(std::size_t bytes) noexcept {
  return (bytes + sizeof(frame_unit) - 1) / sizeof(frame_unit);
}

template <class... Types>
struct parameter_list {};

// Promise, with its frames from an Alloc. The frame is at the beginning, where the compiler expects it. The parameter
// types of the coroutine function are part of the type because operator new is called with them; as a
// template it would make g++ warn of an operator delete that does not match.
template <class Promise, class Alloc, class Before, class After>
class allocated_frame;

template <class Promise, class Alloc, class... Before, class... After>
class allocated_frame<Promise, Alloc, parameter_list<Before...>, parameter_list<After...>> : public Promise {
  using allocator = typename std::allocator_traits<Alloc>::template rebind_alloc<frame_unit>;
  using traits = std::allocator_traits<allocator>;
  static_assert(std::is_same_v<typename traits::pointer, frame_unit*>,
                "allocators with fancy pointers cannot hold a coroutine frame: use one whose pointer is T*");
  // A stateful allocator is stored to free the frame: operator delete has no other way to get it.
  static constexpr bool stateless = traits::is_always_equal::value && std::is_default_constructible_v<allocator>;
  static_assert(alignof(allocator) <= alignof(frame_unit), "over-aligned allocators are not supported");

  static constexpr std::size_t total_units(std::size_t bytes) noexcept {
    return frame_units(bytes) + (stateless ? 0 : frame_units(sizeof(allocator)));
  }
  static allocator* allocator_behind(void* frame, std::size_t bytes) noexcept {
    return reinterpret_cast<allocator*>(static_cast<frame_unit*>(frame) + frame_units(bytes));
  }
  static void* allocate(std::size_t bytes, allocator source) {
    frame_unit* frame = traits::allocate(source, total_units(bytes));
    if constexpr (!stateless) ::new (allocator_behind(frame, bytes)) allocator(std::move(source));
    return frame;
  }

 public:
  static void* operator new(std::size_t bytes, const std::remove_reference_t<Before>&..., std::allocator_arg_t,
                            const Alloc& source, const std::remove_reference_t<After>&...) {
    return allocate(bytes, allocator(source));
  }
  // Clang passes the object of a member function, but not the object of a lambda.
  static void* operator new(std::size_t bytes, std::allocator_arg_t, const Alloc& source,
                            const std::remove_reference_t<After>&...)
    requires(sizeof...(Before) > 0)
  {
    return allocate(bytes, allocator(source));
  }
  static void operator delete(void* frame, std::size_t bytes) noexcept {
    if constexpr (stateless) {
      allocator source;
      traits::deallocate(source, static_cast<frame_unit*>(frame), total_units(bytes));
    } else {
      allocator* stored = allocator_behind(frame, bytes);
      allocator source(std::move(*stored));
      stored->~allocator();
      traits::deallocate(source, static_cast<frame_unit*>(frame), total_units(bytes));
    }
  }
};

// A return type of hocket's coroutine functions: its promise gets its frames from this header.
template <class R>
concept framed_coroutine = std::is_base_of_v<recycled_frame, typename R::promise_type> ||
                           std::is_base_of_v<recycled_frame_by_call, typename R::promise_type>;

// The std::coroutine_traits of a function with these parameters that returns an R.
template <class R, class... Parameters>
struct framed_traits {
  static_assert(
      (fits_frame<Parameters> && ...),
      "hocket: an over-aligned parameter, callable or argument would be misaligned in a coroutine frame: pass it "
      "by std::unique_ptr, which aligns it");
  using promise_type = typename R::promise_type;
};

// The same with an allocator, and with the object of a member function as Before.
template <class R, class Alloc, class Before, class After>
struct allocated_traits;
template <class R, class Alloc, class... Before, class... After>
struct allocated_traits<R, Alloc, parameter_list<Before...>, parameter_list<After...>> : framed_traits<R, After...> {
  using promise_type = allocated_frame<typename R::promise_type, std::remove_cvref_t<Alloc>, parameter_list<Before...>,
                                       parameter_list<After...>>;
};

}}}  // namespace hocket::detail

template <hocket::detail::framed_coroutine R, class... Parameters>
struct std::coroutine_traits<R, Parameters...> : hocket::detail::framed_traits<R, Parameters...> {};
template <hocket::detail::framed_coroutine R, class Alloc, class... After>
struct std::coroutine_traits<R, std::allocator_arg_t, Alloc, After...>
    : hocket::detail::allocated_traits<R, Alloc, hocket::detail::parameter_list<>,
                                       hocket::detail::parameter_list<After...>> {};
template <hocket::detail::framed_coroutine R, class Self, class Alloc, class... After>
struct std::coroutine_traits<R, Self, std::allocator_arg_t, Alloc, After...>
    : hocket::detail::allocated_traits<R, Alloc, hocket::detail::parameter_list<Self>,
                                       hocket::detail::parameter_list<After...>> {};
