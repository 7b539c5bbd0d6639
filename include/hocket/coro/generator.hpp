// generator<T>: a sequence computed by a coroutine, one value whenever the next is asked for.
//
//   generator<int> squares(int n) { for (int i = 0; i < n; ++i) co_yield i * i; }
//   for (int s : squares(10)) use(s);
//
// A generator is a move-only view and an input range, for a single pass. A pipeline takes it over as an rvalue:
// std::move(g) | std::views::take(3). An lvalue in a pipeline does not compile: two views would begin it twice. The
// body runs on the stack of whoever asks for the next value (begin(), ++), on no executor: `co_await` does not compile
// in it. `await` suspends the fiber that reads it, as in any function that the fiber calls; where a task reads it, it
// is fatal. An exception that leaves the body comes out of that begin() or ++, and ends the sequence. Destroying a
// generator destroys its suspended body, locals first.
//
// The types are those of std::generator<Reference, Value>: generator<T> gives T&&, so that values can be moved from;
// generator<const T&> and generator<T&> give what they say. A yielded object is referred to, not copied; but where T&&
// is given an lvalue is copied first, and so is any T of at most two words that is trivially copyable. A reference is
// valid until the next ++.
//
// Recursion. `co_yield elements_of(inner)` hands over all values of another generator (elements_of.hpp). One that
// yields the same type is given up to the outer body, unbegun, as an rvalue. However deep it lies, the reader resumes
// it directly, and its values cost what those of the outermost one cost. An exception that leaves it comes out of that
// co_yield, in the outer body. It is destroyed at its end, before the outer body goes on. Destroying the outermost
// generator destroys the bodies from the innermost outward. Neither takes stack by the depth.
//
// One thread at a time. Misuse (begin() twice, ++ at the end, resuming a generator from inside itself, destroying it
// while it runs, handing over one that was begun) is fatal.
#pragma once
#include <hocket/coro/detail/generator_promise.hpp>
#include <string_view>  // for std::ranges::enable_view: it specialises that too, and is lighter than <ranges>

namespace hocket { inline namespace HOCKET_ABI {

template <class Reference, class Value>
class [[nodiscard]] generator {
  using value = std::conditional_t<std::is_void_v<Value>, std::remove_cvref_t<Reference>, Value>;
  using reference = std::conditional_t<std::is_void_v<Value>, Reference&&, Reference>;
  using yielded = std::conditional_t<std::is_reference_v<reference>, reference, const reference&>;
  static_assert(std::is_same_v<value, std::remove_cvref_t<value>> && std::is_object_v<value>,
                "generator<Reference, Value>: Value is an object type without const");
  using handle_type = typename detail::generator_promise<yielded>::handle_type;

 public:
  struct promise_type : detail::generator_promise<yielded> {
    using yielded_type = yielded;
    generator get_return_object() noexcept {
      detail::generator_promise<yielded>& promise = *this;
      return generator(handle_type::from_promise(promise));
    }
  };

  class iterator {
   public:
    using iterator_concept = std::input_iterator_tag;
    using value_type = value;
    using difference_type = std::ptrdiff_t;

    iterator(iterator&& other) noexcept : leaf_(std::exchange(other.leaf_, {})) {}
    iterator& operator=(iterator&& other) noexcept {
      leaf_ = std::exchange(other.leaf_, {});
      return *this;
    }

    reference operator*() const
        noexcept(std::is_reference_v<reference> || std::is_nothrow_copy_constructible_v<reference>) {
      auto& promise = leaf_.promise();
      detail::debug_expects(promise.has_value(), "the value of a generator at its end was used",
                            "compare the iterator with end() first");
      return static_cast<reference>(promise.value());
    }
    // Throws what the body throws.
    iterator& operator++() {
      detail::expects(leaf_.promise().has_value(), "a generator was resumed at its end, or from inside itself",
                      "compare the iterator with end() before ++; never advance a generator in its own body");
      next();
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const iterator& at, std::default_sentinel_t) noexcept {
      return !at.leaf_.promise().has_value();
    }

   private:
    friend class generator;
    explicit iterator(handle_type root) : leaf_(root) { next(); }
    void next() {
      leaf_.promise().next(leaf_);
      if (!leaf_.promise().has_value()) [[unlikely]]
        find_value();
    }
    // Stands at the root meanwhile: what throws has destroyed the leaf, and what asks from inside finds no value there.
    void find_value() {
      leaf_ = handle_type::from_promise(leaf_.promise().root());
      leaf_ = handle_type::from_promise(leaf_.promise().find_value());
    }

    handle_type leaf_;  // the innermost body: who computes the values
  };

  generator(generator&& other) noexcept : body_(std::exchange(other.body_, {})) {}
  generator& operator=(generator&& other) noexcept {
    generator old(std::move(other));
    std::swap(body_, old.body_);
    return *this;
  }
  ~generator() {
    if (body_) body_.promise().destroy_all();
  }

  // Runs the body to its first value. Once only.
  [[nodiscard]] iterator begin() {
    detail::expects(static_cast<bool>(body_), "begin() of a generator that was moved from", "iterate over the new one");
    auto& promise = body_.promise();
    detail::expects(!(promise.flags & detail::header_flag::started), "begin() was called twice on a generator",
                    "a generator is a single pass: keep the iterator, or call the coroutine function again");
    promise.flags |= detail::header_flag::started;
    return iterator(body_);
  }
  [[nodiscard]] std::default_sentinel_t end() const noexcept { return std::default_sentinel; }

 private:
  friend detail::generator_promise<yielded>;
  explicit generator(handle_type body) noexcept : body_(body) {}

  handle_type release() && noexcept { return std::exchange(body_, {}); }

  handle_type body_;
};

namespace detail {
template <class Yielded, class Range>
generator<Yielded> each_of(Range& range) {
  for (auto&& one : range) co_yield std::forward<decltype(one)>(one);
}
}  // namespace detail

}}  // namespace hocket

template <class Reference, class Value>
inline constexpr bool std::ranges::enable_view<hocket::generator<Reference, Value>> = true;
