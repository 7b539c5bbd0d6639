// The children of a group (when_group.hpp): a pack of several types, or an array of one.
#pragma once
#include <hocket/base/memory_source.hpp>
#include <hocket/coro/detail/when_group.hpp>
#include <tuple>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The common type of all values; when_some of a pack needs one.
struct differing_values;
template <class... T>
struct common_value {
  using type = differing_values;
};
template <class T, std::same_as<T>... Rest>
struct common_value<T, Rest...> {
  using type = T;
};

template <class... A>
class when_pack {
 public:
  static constexpr bool yields_result = (when_child<A>::yields_result || ...);
  static constexpr bool makes_attempts = (when_child<A>::makes_attempts || ...);
  using common = typename common_value<typename when_child<A>::value...>::type;

  explicit when_pack(std::tuple<A...>& operands)
      : children_(std::apply([](auto&... a) { return children(std::forward<A>(a)...); }, operands)) {}

  static constexpr std::size_t size() noexcept { return sizeof...(A); }
  template <std::size_t I>
  auto& child() noexcept {
    return std::get<I>(children_);
  }
  template <class F>
  void for_each(F&& f) {
    std::apply([&](auto&... child) { (f(child), ...); }, children_);
  }
  // Makes an R of all children.
  template <class R, class F>
  R gather(F&& convert) {
    return std::apply([&](auto&... child) { return R(convert(child)...); }, children_);
  }

 private:
  using children = std::tuple<when_child<A>...>;
  children children_;
};

// A task is awaited once, so its awaiter owns it.
template <class A>
inline constexpr bool is_task_of_others = std::is_lvalue_reference_v<A> && is_task<std::remove_cvref_t<A>>;

// Whether `when_all` takes the arguments as a pack of awaitables.
template <class... A>
concept pack_of_awaitables = sizeof...(A) > 0 && (awaitable<A> && ...) && !(is_task_of_others<A> || ...);

// Whether `when_all` takes an R as a range of awaitables: a container.
template <class R>
concept range_of_awaitables = requires(R& range) {
  { range.size() } -> std::convertible_to<std::size_t>;
  range.begin() != range.end();
  requires std::is_lvalue_reference_v<decltype(*range.begin())>;
  requires awaitable<decltype(*range.begin())> || awaitable<std::remove_reference_t<decltype(*range.begin())>>;
  requires !(std::is_lvalue_reference_v<R> && is_task_of_others<decltype(*range.begin())>);
};

// A right or wrong child of a group. The concept excludes the arguments of a program's own function of the same name.
template <class A>
concept meant_for_group = awaitable<A> || requires(A& range) { requires awaitable<decltype(*range.begin())>; };

// `Range` is a container, and its elements are moved, or an lvalue reference to a container, which keeps them.
template <class Range>
class when_array {
  using element = std::remove_reference_t<decltype(*std::declval<Range&>().begin())>;
  using operand = std::conditional_t<std::is_lvalue_reference_v<Range>, element&, element>;

 public:
  using child = when_child<operand>;
  static constexpr bool yields_result = child::yields_result;
  static constexpr bool makes_attempts = child::makes_attempts;
  using common = typename child::value;

  // The capacity is at least 1: with 0, g++ warns of an overrun.
  explicit when_array(std::remove_reference_t<Range>& range) : when_array(range.size() + (range.size() == 0)) {
    for (auto& item : range) {
      ::new (static_cast<void*>(children_ + size_)) child(static_cast<operand&&>(item));
      ++size_;
    }
  }
  when_array(const when_array&) = delete;
  when_array& operator=(const when_array&) = delete;
  ~when_array() {
    for_each([](child& entry) { entry.~child(); });
    source_release(static_cast<void*>(children_), capacity_ * sizeof(child), alignof(child));
  }

  std::size_t size() const noexcept { return size_; }
  template <class F>
  void for_each(F&& f) {
    for (std::size_t i = 0; i < size_; ++i) f(children_[i]);
  }

 private:
  // The delegated constructor: if a child cannot be made, the destructor frees the children before it.
  explicit when_array(std::size_t capacity)
      : children_(static_cast<child*>(source_allocate_or_throw(capacity * sizeof(child), alignof(child)))),
        capacity_(capacity) {}

  child* const children_;
  const std::size_t capacity_;
  std::size_t size_ = 0;
};

template <class Operands>
struct children_of {
  using type = when_array<Operands>;
};
template <class... A>
struct children_of<std::tuple<A...>> {
  using type = when_pack<A...>;
};
template <class Operands>
using children_of_t = typename children_of<Operands>::type;

// The awaiter of a group. The group is decided after `enough` ends. `Way` makes the result of the parent.
template <class Way, class Children>
class when_wait final : public body_awaiter, private when_group, private Children {
 public:
  template <class Operands>
  when_wait(Operands& operands, std::size_t enough, const wait_options& options)
      : when_group(Children::makes_attempts ? with_attempts(enough) : enough, options),
        Children(operands),
        enough_(enough) {}

  static constexpr bool await_ready() noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> parent) {
    return suspend(parent, Children::size(), [](when_group& self) noexcept {
      static_cast<when_wait&>(self).for_each([&](auto& entry) { entry.begin(self); });
    });
  }
  auto await_resume() {
    this->finish();
    return Way::take(static_cast<Children&>(*this), first_failure(), enough_);
  }

 private:
  const std::size_t enough_;
};

template <class... A>
void discard_operands(std::tuple<A...>& operands) noexcept {
  std::apply([](auto&... operand) { (give_up_awaitable<A>(operand), ...); }, operands);
}
template <class Range>
void discard_operands(Range& operands) noexcept {
  for (auto& operand : operands) give_up_awaitable<std::remove_reference_t<decltype(operand)>>(operand);
}

// The result of when_all, when_any and when_some: the operands of the group, and its options.
template <class Way, class Operands>
class [[nodiscard("an operation does nothing until it is awaited")]] when_awaitable
    : public awaitable_base<when_awaitable<Way, Operands>> {
  using children = children_of_t<Operands>;

 public:
  using way = Way;

  template <class... G>
  when_awaitable(std::size_t enough, const wait_options& options, G&&... operands)
      : operands_(std::forward<G>(operands)...), enough_(enough), options_(options) {}

  when_wait<Way, children> operator co_await() && { return when_wait<Way, children>(operands_, enough_, options_); }

  // Neither the group nor its operands will be awaited.
  static constexpr bool can_be_discarded = true;
  void discard() && noexcept {
    if constexpr (!std::is_reference_v<Operands>) discard_operands(operands_);
  }

  // For within(): the same group with a deadline; gives a result.
  auto within(duration time) && {
    if (time < options_.within) options_.within = time;
    return std::move(*this).timed();
  }
  auto until(time_point deadline) && {
    if (deadline < options_.until) options_.until = deadline;
    return std::move(*this).timed();
  }

 private:
  auto timed() && {
    return when_awaitable<typename Way::timed, Operands>(enough_, options_, std::forward<Operands>(operands_));
  }

  Operands operands_;
  std::size_t enough_;
  wait_options options_;
};

}}}  // namespace hocket::detail
