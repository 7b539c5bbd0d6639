// choice<Ts...>: what a select of several operations gives: which one came first, and what it gave.
//
//   choice<int, void> c = ...;
//   if (c.index() == 0) use(*c.get<0>());      // get<I>() is the result<T> of the operation of that index
//
// The operation that came first may itself have failed (a oneshot whose sender is gone): hence a result<T>, not a T.
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
  std::size_t most = 0;
  for (std::size_t value : values) most = value > most ? value : most;
  return most;
}

}  // namespace detail

template <class... Ts>
class [[nodiscard]] choice {
  static_assert(sizeof...(Ts) > 0, "choice: of one thing at least");

 public:
  static constexpr std::size_t size = sizeof...(Ts);
  template <std::size_t I>
  using type = result<typename detail::nth<I, Ts...>::type>;

  template <std::size_t I>
  choice(std::in_place_index_t<I>, type<I> value) : index_(I) {
    ::new (static_cast<void*>(room_)) type<I>(std::move(value));
  }
  choice(choice&& other) noexcept((std::is_nothrow_move_constructible_v<result<Ts>> && ...)) : index_(other.index_) {
    take(other);
  }
  // Where no value can throw as it is moved: a choice is never empty.
  choice& operator=(choice&& other) noexcept
    requires(std::is_nothrow_move_constructible_v<result<Ts>> && ...)
  {
    choice taken(std::move(other));  // `other` may lie inside of the value that drop() destroys
    drop();
    index_ = taken.index_;
    take(taken);
    return *this;
  }
  ~choice() { drop(); }

  // Which operation came first, counted from 0 in the order in which they were given.
  std::size_t index() const noexcept { return index_; }

  // What the operation of index I gave. Another index than index() is a programming error.
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
  struct at {};

  template <std::size_t I>
  type<I>& stored() noexcept {
    return *std::launder(reinterpret_cast<type<I>*>(room_));
  }
  template <std::size_t I>
  type<I>& checked() noexcept {
    detail::expects(index_ == I, "the value of another operation than the one that was chosen was used",
                    "ask index() first");
    return stored<I>();
  }
  void take(choice& other) {
    visit([&]<std::size_t I>(at<I>) { ::new (static_cast<void*>(room_)) type<I>(std::move(other.stored<I>())); });
  }
  void drop() noexcept {
    visit([&]<std::size_t I>(at<I>) { stored<I>().~type<I>(); });
  }
  template <class F>
  void visit(F&& f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((I == index_ ? f(at<I>{}) : void()), ...);
    }(std::index_sequence_for<Ts...>{});
  }

  std::size_t index_;
  alignas(result<Ts>...) unsigned char room_[detail::greatest({sizeof(result<Ts>)...})];
};

}}  // namespace hocket
