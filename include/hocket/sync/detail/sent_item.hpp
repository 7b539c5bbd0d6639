// The item of a send: the caller's object until it is sent or begins to wait, then a slot that does not move. During
// the wait no code uses the caller's object, whose stack may have been moved away.
#pragma once
#include <hocket/sync/detail/channel_exchange.hpp>
#include <hocket/sync/detail/own_pointer.hpp>
#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The item moves into the slot, and back if it was not sent.
template <class T>
class moved_item {
 public:
  static constexpr bool is_moved = true;
  moved_item() noexcept = default;
  explicit moved_item(T&& item) noexcept : original_(&item) {}

  void refer_to(T& item) noexcept { original_ = own_pointer<T>(&item); }
  const void* original() const noexcept { return original_.get(); }
  T&& get() noexcept { return std::move(*original_.get()); }
  void store() noexcept { slot.put(std::move(*original_.get())); }
  // The sender calls it after its wait.
  void give_back() noexcept {
    if (slot.state != channel_party::phase::waits) return;
    T* const original = original_.get();
    if constexpr (std::is_nothrow_move_assignable_v<T>) {
      *original = std::move(slot.item());
    } else {
      original->~T();
      ::new (static_cast<void*>(original)) T(std::move(slot.item()));
    }
    slot.clear();
    slot.state = channel_party::phase::begun;
  }

  channel_slot<T> slot{false};

 private:
  own_pointer<T> original_;
};

// The item is copied when it is sent, or when the wait begins.
template <class T>
class copied_item {
 public:
  static constexpr bool is_moved = true;  // give_back() ends the copy
  explicit copied_item(const T& item) noexcept : original_(&item) {}

  const T& get() noexcept { return *original_.get(); }
  const void* original() const noexcept { return original_.get(); }
  void store() noexcept { slot.put(*original_.get()); }
  void give_back() noexcept {
    if (slot.state != channel_party::phase::waits) return;
    slot.clear();
    slot.state = channel_party::phase::begun;
  }

  channel_slot<T> slot{false};

 private:
  own_pointer<const T> original_;
};

// A small trivial item is in the slot from the beginning; the caller's object does not change.
template <class T>
class small_item {
 public:
  static constexpr bool is_moved = false;
  explicit small_item(const T& item) noexcept { slot.put(item); }

  T&& get() noexcept { return std::move(slot.item()); }
  void store() noexcept {}

  channel_slot<T> slot{false};
};

template <class T, class U>
struct sent_item_of
    : std::type_identity<std::conditional_t<std::is_rvalue_reference_v<U>, moved_item<T>, copied_item<T>>> {};
template <class T, class U>
  requires is_small_item<T>
struct sent_item_of<T, U> : std::type_identity<small_item<T>> {};

// U is T&& or const T&.
template <class T, class U>
using sent_item = typename sent_item_of<T, U>::type;

}}}  // namespace hocket::detail
