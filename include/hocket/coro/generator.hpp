// generator<T>: a sequence computed by a coroutine, one value whenever the next is asked for.
//
//   generator<int> squares(int n) { for (int i = 0; i < n; ++i) co_yield i * i; }
//   for (int s : squares(10)) use(s);
//
// A generator is a move-only input range for a single pass. The body runs on the stack of whoever asks for the next
// value (begin(), ++), on no executor: `co_await` does not compile in it. `await` suspends the fiber that reads it, as
// in any function that the fiber calls; where a task reads it, it is fatal. An exception that leaves the body comes out
// of that begin() or ++, and ends the sequence. Destroying a generator destroys its suspended body, locals first.
//
// The types are those of std::generator<Reference, Value>: generator<T> gives T&&, so that values can be moved from;
// generator<const T&> and generator<T&> give what they say; a yielded object is referred to, not copied (save an
// lvalue yielded as T&&, which is copied first). A reference is valid until the next ++.
//
// One thread at a time. Misuse (begin() twice, ++ at the end, resuming a generator from inside itself, destroying it
// while it runs) is fatal.
#pragma once
#include <hocket/base/fatal.hpp>
#include <hocket/core/frame.hpp>
#include <hocket/coro/frame_allocation.hpp>
#include <concepts>
#include <iterator>
#include <utility>

namespace hocket::inline HOCKET_ABI {

template <class Reference, class Value = void>
class generator;

namespace detail {

template <class>
inline constexpr bool never = false;

// How the body stands is all in `value`: it points to what was yielded while the body waits there, and is null before
// the first resume, while the body runs, and after its end. So the loop of the reader tests one word for the end, and
// the same word finds ++ at the end and ++ from inside.
template <class Yielded>
class generator_promise : public coroutine_header, public recycled_frame_by_call {
  using object = std::remove_reference_t<Yielded>;

  // For `co_yield lvalue` where rvalues are given: the copy lives in the frame until the next resume.
  class copied {
   public:
    copied(const object& value, generator_promise& promise) : copy_(value), promise_(promise) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>) noexcept { promise_.value = std::addressof(copy_); }
    void await_resume() const noexcept {}

   private:
    std::remove_cv_t<object> copy_;
    generator_promise& promise_;
  };

 public:
  std::add_pointer_t<Yielded> value = nullptr;

  generator_promise() noexcept { kind = coroutine_kind::generator; }
  static std::suspend_always initial_suspend() noexcept { return {}; }
  static std::suspend_always final_suspend() noexcept { return {}; }

  std::suspend_always yield_value(Yielded yielded) noexcept {
    value = std::addressof(yielded);
    return {};
  }
  copied yield_value(const object& yielded)
    requires(std::is_rvalue_reference_v<Yielded> && std::constructible_from<std::remove_cv_t<object>, const object&>)
  {
    return copied(yielded, *this);
  }

  void return_void() noexcept {}
  // Out of resume(), hence out of the reader's begin() or ++; the body is then at its end.
  [[noreturn]] static void unhandled_exception() { throw; }

  template <class Awaitable>
  std::suspend_never await_transform(Awaitable&&) {
    static_assert(never<Awaitable>,
                  "hocket: co_await inside a generator: its reader does not wait; use async_generator<T> or task<T>");
    return {};
  }

  void next(std::coroutine_handle<> self) {
    value = nullptr;
    self.resume();
  }
};

}  // namespace detail

template <class Reference, class Value>
class [[nodiscard]] generator {
  using value = std::conditional_t<std::is_void_v<Value>, std::remove_cvref_t<Reference>, Value>;
  using reference = std::conditional_t<std::is_void_v<Value>, Reference&&, Reference>;
  using yielded = std::conditional_t<std::is_reference_v<reference>, reference, const reference&>;
  static_assert(std::is_same_v<value, std::remove_cvref_t<value>> && std::is_object_v<value>,
                "generator<Reference, Value>: Value is an object type without const");

 public:
  struct promise_type : detail::generator_promise<yielded> {
    generator get_return_object() noexcept { return generator(handle_type::from_promise(*this)); }
  };

  class iterator {
   public:
    using iterator_concept = std::input_iterator_tag;
    using value_type = value;
    using difference_type = std::ptrdiff_t;

    iterator(iterator&& other) noexcept : body_(std::exchange(other.body_, {})) {}
    iterator& operator=(iterator&& other) noexcept {
      body_ = std::exchange(other.body_, {});
      return *this;
    }

    reference operator*() const
        noexcept(std::is_reference_v<reference> || std::is_nothrow_copy_constructible_v<reference>) {
      debug_expects(body_.promise().value != nullptr, "the value of a generator at its end was used",
                    "compare the iterator with end() first");
      return static_cast<reference>(*body_.promise().value);
    }
    // Throws what the body throws.
    iterator& operator++() {
      expects(body_.promise().value != nullptr, "a generator was resumed at its end, or from inside itself",
              "compare the iterator with end() before ++; never advance a generator in its own body");
      body_.promise().next(body_);
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const iterator& at, std::default_sentinel_t) noexcept {
      return at.body_.promise().value == nullptr;
    }

   private:
    friend class generator;
    explicit iterator(std::coroutine_handle<promise_type> body) noexcept : body_(body) {}
    std::coroutine_handle<promise_type> body_;
  };

  generator(generator&& other) noexcept : body_(std::exchange(other.body_, {})) {}
  generator& operator=(generator&& other) noexcept {
    generator old(std::move(other));
    std::swap(body_, old.body_);
    return *this;
  }
  ~generator() {
    if (!body_) return;
    expects(!runs(), "a generator was destroyed while it runs", "let its body return or yield first");
    body_.destroy();
  }

  // Runs the body to its first value. Once only.
  [[nodiscard]] iterator begin() {
    expects(static_cast<bool>(body_), "begin() of a generator that was moved from", "iterate over the new one");
    auto& promise = body_.promise();
    expects(!(promise.flags & header_flag::started), "begin() was called twice on a generator",
            "a generator is a single pass: keep the iterator, or call the coroutine function again");
    promise.flags |= header_flag::started;
    promise.next(body_);
    return iterator(body_);
  }
  [[nodiscard]] std::default_sentinel_t end() const noexcept { return std::default_sentinel; }

 private:
  using handle_type = std::coroutine_handle<promise_type>;
  explicit generator(handle_type body) noexcept : body_(body) {}

  bool runs() const noexcept {
    const auto& promise = body_.promise();
    return (promise.flags & header_flag::started) && !promise.value && !body_.done();
  }

  handle_type body_;
};

}  // namespace hocket::inline HOCKET_ABI

template <class R, class V, class Alloc, class... After>
struct std::coroutine_traits<hocket::generator<R, V>, std::allocator_arg_t, Alloc, After...>
    : hocket::detail::allocated_traits<hocket::generator<R, V>, Alloc, hocket::detail::parameter_list<>,
                                       hocket::detail::parameter_list<After...>> {};
template <class R, class V, class Self, class Alloc, class... After>
struct std::coroutine_traits<hocket::generator<R, V>, Self, std::allocator_arg_t, Alloc, After...>
    : hocket::detail::allocated_traits<hocket::generator<R, V>, Alloc, hocket::detail::parameter_list<Self>,
                                       hocket::detail::parameter_list<After...>> {};
