// A sequence that a coroutine computes, one value per request.
//
//   generator<int> squares(int n) { for (int i = 0; i < n; ++i) co_yield i * i; }
//   for (int s : squares(10)) use(s);
//
// A generator is a move-only view and a single-pass input range. A pipeline takes it as an rvalue:
// std::move(g) | std::views::take(3). An lvalue in a pipeline does not compile, because two views would begin it twice.
//
// Execution. The body runs on the reader's stack, inside begin() and ++, on no executor.
//   - `co_await` does not compile in the body.
//   - `await` suspends the fiber that reads the generator, as in any function that the fiber calls. If a task reads the
//     generator, `await` is fatal.
//   - Destroying a generator destroys its suspended body, locals first.
//
// Errors. An exception that leaves the body is thrown by that begin() or ++, and ends the sequence.
//
// Values. generator<Reference, Value> has the types of std::generator: generator<T> yields T&&, so that values can be
// moved from; generator<const T&> and generator<T&> yield these references. A yielded object is referred to, not
// copied. Exceptions: if T&& is yielded, an lvalue is copied first, and so is any trivially copyable T of at most two
// words. A reference is valid until the next ++.
//
// Recursion. `co_yield elements_of(inner)` yields all values of another generator (elements_of.hpp). A generator of the
// same yielded type is passed as an rvalue, before its begin(), and the outer body owns it.
//   - At any depth, the reader resumes the innermost body directly: a value costs the same as at depth 0.
//   - An exception that leaves the inner body is thrown by that co_yield in the outer body.
//   - The inner body is destroyed at its end, before the outer body continues.
//   - Destroying the outermost generator destroys the bodies from the innermost outward.
//   - The depth costs no stack, neither for values nor for the destruction.
//
// Thread safety. One thread at a time.
//
// Do not. Fatal: a second begin(); ++ at the end; resuming a generator from inside itself; destroying a generator while
// it runs; elements_of() of a generator that was begun.
#pragma once
#include <hocket/coro/detail/generator_promise.hpp>
#include <string_view>  // for std::ranges::enable_view; lighter than <ranges>

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
    friend bool operator==(const iterator& it, std::default_sentinel_t) noexcept {
      return !it.leaf_.promise().has_value();
    }

   private:
    friend class generator;
    explicit iterator(handle_type root) : leaf_(root) { next(); }
    void next() {
      leaf_.promise().next(leaf_);
      if (!leaf_.promise().has_value()) [[unlikely]]
        find_value();
    }
    // Refers to the root during the search: an exception destroys the leaf, and a ++ from inside finds no value there.
    void find_value() {
      leaf_ = handle_type::from_promise(leaf_.promise().root());
      leaf_ = handle_type::from_promise(leaf_.promise().find_value());
    }

    handle_type leaf_;  // the innermost body: it computes the values
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

  // Runs the body to its first value. Only once per generator. Throws the exception of the body.
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
  for (auto&& element : range) co_yield std::forward<decltype(element)>(element);
}
}  // namespace detail

}}  // namespace hocket

template <class Reference, class Value>
inline constexpr bool std::ranges::enable_view<hocket::generator<Reference, Value>> = true;
