// What a result<T> is made of: one of a stored value and an error code, and a bool that says which.
//
// A reference is stored as a pointer, void as an empty struct. std::error_code is trivial to copy and destroy, so every
// special member is trivial when the stored type's is: the constrained overloads below say so (P0848). The others are
// not constexpr: that needs std::construct_at, and <memory> is a third of the weight that a header of hocket may have.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <new>
#include <system_error>
#include <type_traits>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

struct from_call {};
struct no_value {
  friend constexpr bool operator==(no_value, no_value) noexcept = default;
};

template <class T>
class result_storage {
 public:
  using stored = std::conditional_t<std::is_void_v<T>, no_value,
                                    std::conditional_t<std::is_reference_v<T>, std::add_pointer_t<T>, T>>;
  static constexpr bool trivial_destroy = std::is_trivially_destructible_v<stored>;
  static constexpr bool trivial_copy = std::is_trivially_copy_constructible_v<stored>;
  static constexpr bool trivial_move = std::is_trivially_move_constructible_v<stored>;
  static constexpr bool copies = std::is_copy_constructible_v<stored>;
  static constexpr bool moves = std::is_move_constructible_v<stored>;
  static constexpr bool copy_assigns = copies && std::is_copy_assignable_v<stored>;
  static constexpr bool move_assigns = moves && std::is_move_assignable_v<stored>;
  static constexpr bool trivial_copy_assign =
      trivial_destroy && trivial_copy && std::is_trivially_copy_assignable_v<stored>;
  static constexpr bool trivial_move_assign =
      trivial_destroy && trivial_move && std::is_trivially_move_assignable_v<stored>;
  static constexpr bool nothrow_move = std::is_nothrow_move_constructible_v<stored>;
  static constexpr bool nothrow_move_assign = nothrow_move && std::is_nothrow_move_assignable_v<stored>;

  template <class... Args>
  constexpr explicit result_storage(std::in_place_t, Args&&... args)
      : value_(std::forward<Args>(args)...), has_value_(true) {}
  explicit result_storage(std::error_code error) noexcept : error_(error), has_value_(false) {}
  // The value is what `call` returns, made in place: it need not be movable.
  template <class F>
  constexpr result_storage(from_call, F&& call) : value_(result_of(call)), has_value_(true) {}

  result_storage(const result_storage&)
    requires(trivial_copy)
  = default;
  result_storage(const result_storage& other)
    requires(copies && !trivial_copy)
      : none_() {
    take(other);
  }
  result_storage(result_storage&&)
    requires(trivial_move)
  = default;
  result_storage(result_storage&& other) noexcept(nothrow_move)
    requires(moves && !trivial_move)
      : none_() {
    take(std::move(other));
  }
  result_storage& operator=(const result_storage&)
    requires(trivial_copy_assign)
  = default;
  result_storage& operator=(const result_storage& other)
    requires(copy_assigns && !trivial_copy_assign)
  {
    return put(other), *this;
  }
  result_storage& operator=(result_storage&&)
    requires(trivial_move_assign)
  = default;
  result_storage& operator=(result_storage&& other) noexcept(nothrow_move_assign)
    requires(move_assigns && !trivial_move_assign)
  {
    return put(std::move(other)), *this;
  }
  ~result_storage()
    requires(trivial_destroy)
  = default;
  constexpr ~result_storage() { clear(); }

  constexpr bool has_value() const noexcept { return has_value_; }
  std::error_code error() const noexcept { return error_; }

  // The value in the category of `self`; of a reference the referent, of void nothing.
  template <class Self>
  static constexpr decltype(auto) get(Self&& self) noexcept {
    if constexpr (std::is_void_v<T>) return static_cast<void>(self);
    else if constexpr (std::is_reference_v<T>) return static_cast<T>(*self.value_);
    else return (std::forward<Self>(self).value_);
  }
  template <class U>
  static constexpr decltype(auto) keep(U&& value) noexcept {
    if constexpr (std::is_reference_v<T>) return std::addressof(value);
    else return std::forward<U>(value);
  }

  template <class U>
  constexpr void assign(U&& value) {
    if constexpr (std::is_assignable_v<stored&, U>) {
      if (has_value_) return static_cast<void>(value_ = std::forward<U>(value));
    }
    replace(std::forward<U>(value));
  }
  // What may throw is made beside the old content and moved in: a result is never left without one.
  template <class... Args>
  void replace(Args&&... args) noexcept(std::is_nothrow_constructible_v<stored, Args...>) {
    if constexpr (!std::is_nothrow_constructible_v<stored, Args...>) {
      static_assert(nothrow_move, "result: a value that may throw while it is made needs a move that cannot");
      return replace(stored(std::forward<Args>(args)...));
    }
    clear();
    ::new (static_cast<void*>(std::addressof(value_))) stored(std::forward<Args>(args)...);
    has_value_ = true;
  }
  void fail(std::error_code error) noexcept {
    clear();
    ::new (static_cast<void*>(std::addressof(error_))) std::error_code(error);
    has_value_ = false;
  }

 private:
  template <class F>
  static constexpr stored result_of(F& call) {
    if constexpr (std::is_void_v<T>) {
      call();
      return no_value{};
    } else if constexpr (std::is_reference_v<T>) {
      return std::addressof(call());
    } else {
      return call();
    }
  }

  template <class Other>
  void take(Other&& other) {
    if (other.has_value_) ::new (static_cast<void*>(std::addressof(value_))) stored(std::forward<Other>(other).value_);
    else ::new (static_cast<void*>(std::addressof(error_))) std::error_code(other.error_);
    has_value_ = other.has_value_;
  }
  template <class Other>
  void put(Other&& other) {
    if (other.has_value_) assign(std::forward<Other>(other).value_);
    else fail(other.error_);
  }
  constexpr void clear() noexcept {
    if (has_value_) value_.~stored();
  }

  union {
    no_value none_;  // only while a constructor runs
    stored value_;
    std::error_code error_;
  };
  bool has_value_ = false;
};

}}}  // namespace hocket::detail
