// choice<Ts...>: the result of a select: the index of the operation that completed first, and its result.
//
//   choice<int, void> c = ...;
//   if (c.index() == 0) use(*c.get<0>());      // get<I>() is the result<T> of operation I
//
// get<I>() is a result<T> and not a T, because the first operation may itself have failed (a oneshot without a sender).
#pragma once
#include <hocket/base/result.hpp>
#include <cstddef>
#include <new>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

template <std::size_t I, class First, class... Rest>
struct nth : nth<I - 1, Rest...> {};
template <class First, class... Rest>
struct nth<0, First, Rest...> {
  using type = First;
};

constexpr std::size_t greatest(std::initializer_list<std::size_t> values) noexcept {
  std::size_t max = 0;
  for (std::size_t value : values) max = value > max ? value : max;
  return max;
}

}  // namespace detail

// The result of a select; see above.
template <class... Ts>
class [[nodiscard]] choice {
  static_assert(sizeof...(Ts) > 0, "choice: of one thing at least");

 public:
  static constexpr std::size_t size = sizeof...(Ts);
  template <std::size_t I>
  using type = result<typename detail::nth<I, Ts...>::type>;

  template <std::size_t I>
  choice(std::in_place_index_t<I>, type<I> value) : index_(I) {
    ::new (static_cast<void*>(storage_)) type<I>(std::move(value));
  }
  choice(choice&& other) noexcept((std::is_nothrow_move_constructible_v<result<Ts>> && ...)) : index_(other.index_) {
    take(other);
  }
  // Exists only if no move of a value throws, so a choice is never empty.
  choice& operator=(choice&& other) noexcept
    requires(std::is_nothrow_move_constructible_v<result<Ts>> && ...)
  {
    choice source(std::move(other));  // `other` may lie inside the value that drop() destroys
    drop();
    index_ = source.index_;
    take(source);
    return *this;
  }
  ~choice() { drop(); }

  // The index of the operation that completed first, counted from 0 in the order of the arguments.
  std::size_t index() const noexcept { return index_; }

  // The result of operation I. An I other than index() is a programming error.
  template <std::size_t I>
  type<I>& get() & noexcept {
    return checked<I>();
  }
  template <std::size_t I>
  type<I>&& get() && noexcept {
    return std::move(checked<I>());
  }

 private:
  template <std::size_t I>
  struct index_tag {};

  template <std::size_t I>
  type<I>& stored() noexcept {
    return *std::launder(reinterpret_cast<type<I>*>(storage_));
  }
  template <std::size_t I>
  type<I>& checked() noexcept {
    detail::expects(index_ == I, "the value of another operation than the one that was chosen was used",
                    "ask index() first");
    return stored<I>();
  }
  void take(choice& other) {
    visit([&]<std::size_t I>(index_tag<I>) {
      ::new (static_cast<void*>(storage_)) type<I>(std::move(other.stored<I>()));
    });
  }
  void drop() noexcept {
    visit([&]<std::size_t I>(index_tag<I>) { stored<I>().~type<I>(); });
  }
  template <class F>
  void visit(F&& f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((I == index_ ? f(index_tag<I>{}) : void()), ...);
    }(std::index_sequence_for<Ts...>{});
  }

  std::size_t index_;
  alignas(result<Ts>...) unsigned char storage_[detail::greatest({sizeof(result<Ts>)...})];
};

}}  // namespace hocket
