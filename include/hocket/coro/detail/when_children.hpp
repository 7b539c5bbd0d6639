// The children of a group (when_group.hpp): a pack of several types, or an array of one.
#pragma once
#include <hocket/base/memory_source.hpp>
#include <hocket/coro/detail/when_group.hpp>
#include <tuple>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The type that all of them are; when_some of a pack needs one.
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
  static constexpr bool gives_result = (when_child<A>::gives_result || ...);
  static constexpr bool makes_attempts = (when_child<A>::makes_attempts || ...);
  using common = typename common_value<typename when_child<A>::value...>::type;

  explicit when_pack(std::tuple<A...>& given)
      : children_(std::apply([](auto&... a) { return children(std::forward<A>(a)...); }, given)) {}

  static constexpr std::size_t size() noexcept { return sizeof...(A); }
  template <std::size_t I>
  auto& child() noexcept {
    return std::get<I>(children_);
  }
  template <class F>
  void each(F&& f) {
    std::apply([&](auto&... child) { (f(child), ...); }, children_);
  }
  // Makes an R of all of them.
  template <class R, class F>
  R gather(F&& from) {
    return std::apply([&](auto&... child) { return R(from(child)...); }, children_);
  }

 private:
  using children = std::tuple<when_child<A>...>;
  children children_;
};

// A task is awaited once, so its awaiter owns it.
template <class A>
inline constexpr bool is_task_of_others = std::is_lvalue_reference_v<A> && is_task<std::remove_cvref_t<A>>;

// Whether `when_all` takes them as a pack of awaitables.
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

// A right or wrong child of a group. A program's own function of the same name is left alone.
template <class A>
concept meant_for_group = awaitable<A> || requires(A& range) { requires awaitable<decltype(*range.begin())>; };

// `Range` is a container, whose elements are moved out of it, or an lvalue reference to one, which stay there.
template <class Range>
class when_array {
  using element = std::remove_reference_t<decltype(*std::declval<Range&>().begin())>;
  using given = std::conditional_t<std::is_lvalue_reference_v<Range>, element&, element>;

 public:
  using child = when_child<given>;
  static constexpr bool gives_result = child::gives_result;
  static constexpr bool makes_attempts = child::makes_attempts;
  using common = typename child::value;

  // With room for one at least: of no room g++ warns that it is overrun.
  explicit when_array(std::remove_reference_t<Range>& range) : when_array(range.size() + (range.size() == 0)) {
    for (auto& one : range) {
      ::new (static_cast<void*>(room_ + size_)) child(static_cast<given&&>(one));
      ++size_;
    }
  }
  when_array(const when_array&) = delete;
  when_array& operator=(const when_array&) = delete;
  ~when_array() {
    each([](child& one) { one.~child(); });
    source_release(static_cast<void*>(room_), capacity_ * sizeof(child), alignof(child));
  }

  std::size_t size() const noexcept { return size_; }
  template <class F>
  void each(F&& f) {
    for (std::size_t i = 0; i < size_; ++i) f(room_[i]);
  }

 private:
  // Delegated to, so that what is there already is freed when a child cannot be made.
  explicit when_array(std::size_t capacity)
      : room_(static_cast<child*>(source_allocate_or_throw(capacity * sizeof(child), alignof(child)))),
        capacity_(capacity) {}

  child* const room_;
  const std::size_t capacity_;
  std::size_t size_ = 0;
};

template <class Given>
struct children_of {
  using type = when_array<Given>;
};
template <class... A>
struct children_of<std::tuple<A...>> {
  using type = when_pack<A...>;
};
template <class Given>
using children_of_t = typename children_of<Given>::type;

// The awaiter of a group. `Way` says how many must end (`enough`), and what the parent is given.
template <class Way, class Children>
class when_wait final : public body_awaiter, private when_group, private Children {
 public:
  template <class Given>
  when_wait(Given& what, std::size_t enough, const wait_options& options)
      : when_group(Children::makes_attempts ? with_attempts(enough) : enough, options),
        Children(what),
        enough_(enough) {}

  static constexpr bool await_ready() noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> parent) {
    return suspend(parent, Children::size(), [](when_group& self) noexcept {
      static_cast<when_wait&>(self).each([&](auto& one) { one.begin(self); });
    });
  }
  auto await_resume() {
    this->go_on();
    return Way::take(static_cast<Children&>(*this), first_failure(), enough_);
  }

 private:
  const std::size_t enough_;
};

template <class... A>
void give_up_given(std::tuple<A...>& given) noexcept {
  std::apply([](auto&... one) { (give_up_awaitable<A>(one), ...); }, given);
}
template <class Range>
void give_up_given(Range& given) noexcept {
  for (auto& one : given) give_up_awaitable<std::remove_reference_t<decltype(one)>>(one);
}

// What when_all and its like return: the things that will be awaited, and under which options.
template <class Way, class Given>
class [[nodiscard("an operation does nothing until it is awaited")]] when_awaitable
    : public awaitable_base<when_awaitable<Way, Given>> {
  using children = children_of_t<Given>;

 public:
  using way = Way;

  template <class... G>
  when_awaitable(std::size_t enough, const wait_options& options, G&&... given)
      : given_(std::forward<G>(given)...), enough_(enough), options_(options) {}

  when_wait<Way, children> operator co_await() && { return when_wait<Way, children>(given_, enough_, options_); }

  // It will not be awaited, nor what it was given.
  static constexpr bool can_be_discarded = true;
  void discard() && noexcept {
    if constexpr (!std::is_reference_v<Given>) give_up_given(given_);
  }

  // For within(): the same under a deadline, as a result.
  auto within(duration time) && {
    if (time < options_.within) options_.within = time;
    return std::move(*this).timed();
  }
  auto until(time_point deadline) && {
    if (deadline < options_.until) options_.until = deadline;
    return std::move(*this).timed();
  }

 private:
  auto timed() && { return when_awaitable<typename Way::timed, Given>(enough_, options_, std::forward<Given>(given_)); }

  Given given_;
  std::size_t enough_;
  wait_options options_;
};

}}}  // namespace hocket::detail
