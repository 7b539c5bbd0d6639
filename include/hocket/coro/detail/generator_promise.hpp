// The promise of a generator: the value that it offers, and its links to nested generators.
//
// Nested generators. `co_yield elements_of(inner)` suspends the outer body and makes `inner` the leaf of the outermost
// generator, the root. Only the leaf runs, and only the reader of the root resumes it: a value costs the same at any
// depth. (The links are as in P2502 and in cppcoro's recursive_generator: each body knows its root and its parent, the
// root knows the leaf.) Neither step, down or up, is a transfer from body to body. The body returns to the reader,
// which finds no value, reads the leaf from the root, and resumes it. This is a loop, so no depth can overflow the
// stack, even if the compiler makes no tail calls. For the same reason destruction begins at the leaf.
//
// The links lie in fields of coroutine_header that a generator has no other use for:
//
//   continuation.next     null in a root. Else the `nested` through which the parent owns this body
//   continuation.handle   in a root: the leaf, or null (it is the leaf itself). Else the parent
//   flags                 started; and has_value, where the value itself is kept in the promise
#pragma once
#include <hocket/base/fatal.hpp>
#include <hocket/core/thread/seam/frame.hpp>
#include <hocket/coro/detail/frame_allocation.hpp>
#include <hocket/coro/elements_of.hpp>
#include <concepts>
#include <exception>
#include <iterator>
#include <new>
#include <type_traits>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

template <class Reference, class Value = void>
class generator;

namespace detail {

template <class>
inline constexpr bool never = false;

// Beside header_flag. Both are written at once: this takes one instruction.
namespace generator_flag {
inline constexpr std::uint8_t has_value = 0x80;
}  // namespace generator_flag

// Small values that are given away are copied into the promise, which takes fewer instructions than to point to them.
template <class Yielded>
inline constexpr bool yields_small_copies = false;
template <class T>
inline constexpr bool yields_small_copies<T&&> =
    std::is_trivially_copyable_v<T> && std::is_trivially_copy_constructible_v<T> && !std::is_volatile_v<T> &&
    sizeof(T) <= 2 * sizeof(void*) && alignof(T) <= sizeof(void*);
template <class T>
inline constexpr bool yields_small_copies<T&> = false;

// has_value() has the state of the body: true while the body waits at a co_yield, false before the first resume, while
// the body runs or waits for a nested one, and after its end. So the loop of the reader tests one word for the end, and
// the same word detects ++ at the end and ++ from inside.
template <class Yielded>
class yielded_value : public coroutine_header {
  using object = std::remove_reference_t<Yielded>;

  // For `co_yield lvalue` where rvalues are given: the copy lives in the frame until the next resume.
  class copied {
    static_assert(fits_frame<object>,
                  "hocket: an over-aligned value is not copied into a frame: co_yield std::move(it)");

   public:
    explicit copied(const object& value) : copy_(value) {}
    static bool await_ready() noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> self) noexcept {
      static_cast<yielded_value&>(self.promise()).value_ = std::addressof(copy_);
    }
    static void await_resume() noexcept {}

   private:
    std::remove_cv_t<object> copy_;
  };

 public:
  bool has_value() const noexcept { return value_ != nullptr; }
  void clear() noexcept { value_ = nullptr; }
  object& value() const noexcept { return *value_; }

  std::suspend_always yield_value(Yielded yielded) noexcept {
    value_ = std::addressof(yielded);
    return {};
  }
  copied yield_value(const object& yielded)
    requires(std::is_rvalue_reference_v<Yielded> && std::constructible_from<std::remove_cv_t<object>, const object&>)
  {
    return copied(yielded);
  }

 private:
  object* value_ = nullptr;
};

template <class Yielded>
  requires yields_small_copies<Yielded>
class yielded_value<Yielded> : public coroutine_header {
  using object = std::remove_cvref_t<Yielded>;

 public:
  yielded_value() noexcept {}

  bool has_value() const noexcept { return (flags & generator_flag::has_value) != 0; }
  void clear() noexcept { flags = header_flag::started; }
  object& value() noexcept { return value_; }

  std::suspend_always yield_value(const object& yielded) noexcept {
    ::new (static_cast<void*>(std::addressof(value_))) object(yielded);
    flags = header_flag::started | generator_flag::has_value;
    return {};
  }

 private:
  union {
    object value_;
  };
};

// The reference type of a range.
namespace range_access {
using std::begin;
template <class Range>
using reference = decltype(*begin(std::declval<Range&>()));
}  // namespace range_access

template <class Range>
inline constexpr bool is_lvalue_generator = false;
template <class R, class V>
inline constexpr bool is_lvalue_generator<generator<R, V>&> = true;

template <class Yielded, class Range>
generator<Yielded> each_of(Range& range);

template <class Yielded>
class generator_promise : public yielded_value<Yielded>, public recycled_frame_by_call {
 public:
  using handle_type = std::coroutine_handle<generator_promise>;
  using coroutine_header::continuation, coroutine_header::flags;
  class nested;

  generator_promise() noexcept { this->kind = coroutine_kind::generator; }
  static std::suspend_always initial_suspend() noexcept { return {}; }
  static std::suspend_always final_suspend() noexcept { return {}; }

  using yielded_value<Yielded>::yield_value;
  template <class R, class V>
    requires std::same_as<typename generator<R, V>::promise_type::yielded_type, Yielded>
  nested yield_value(elements_of<generator<R, V>> inner) {
    return nested(std::move(inner.range()).release());
  }
  template <class Range>
  nested yield_value(elements_of<Range> all) {
    static_assert(!is_lvalue_generator<Range>, "hocket: elements_of takes a generator over: elements_of(std::move(g))");
    using element = range_access::reference<std::remove_reference_t<Range>>;
    static_assert(std::is_convertible_v<element, Yielded> || yields_converted<element>,
                  "hocket: elements_of(range): what the range gives does not convert to what the generator yields");
    auto&& range = all.range();
    return nested(each_of<Yielded>(range).release());
  }

  void return_void() noexcept {}
  // Of a root: out of resume(), hence out of the reader's begin() or ++; the body is then at its end.
  void unhandled_exception() {
    if (!continuation.next) throw;
    link().error_ = std::current_exception();
  }

  template <class Awaitable>
  std::suspend_never await_transform(Awaitable&&) {
    static_assert(never<Awaitable>,
                  "hocket: co_await inside a generator: its reader does not wait; use async_generator<T> or task<T>");
    return {};
  }

  // By the reader: runs the leaf. If the leaf has no value then, find_value() continues.
  void next(handle_type leaf) {
    this->clear();
    leaf.resume();
  }
  generator_promise& root() noexcept { return continuation.next ? *link().root_ : *this; }

  // Of a root, by the reader: runs the current leaf until a leaf has a value. Returns that leaf, or the root at its
  // end. It takes and returns references, because g++ keeps handles on the stack.
  [[HOCKET_NOINLINE]] generator_promise& find_value() {
    for (;;) {
      generator_promise& leaf = this->leaf();
      if (leaf.has_value()) return leaf;
      if (handle_type body = leaf.self(); !body.done()) body.resume();
      else if (&leaf == this) return leaf;
      else continuation.handle = leaf.continuation.handle;
    }
  }

  // Of a root, by its owner: destroys the leaf first.
  void destroy_all() noexcept {
    generator_promise* leaf = &this->leaf();
    expects(!leaf->runs(), "a generator was destroyed while it runs", "let its body return or yield first");
    while (leaf != this) {
      generator_promise& parent = promise_of(leaf->continuation.handle);
      leaf->link().inner_ = {};
      leaf->self().destroy();
      leaf = &parent;
    }
    self().destroy();
  }

 private:
  template <class Given>
  static constexpr bool yields_converted =
      std::is_rvalue_reference_v<Yielded> && std::is_convertible_v<Given, const std::remove_reference_t<Yielded>&>;

  static generator_promise& promise_of(std::coroutine_handle<> body) noexcept {
    return static_cast<generator_promise&>(header_of(body));
  }
  handle_type self() noexcept { return handle_type::from_promise(*this); }
  nested& link() const noexcept { return static_cast<nested&>(*continuation.next); }
  generator_promise& leaf() noexcept { return continuation.handle ? promise_of(continuation.handle) : *this; }
  bool runs() noexcept { return (flags & header_flag::started) && !this->has_value() && !self().done(); }
};

// The awaiter of elements_of: owns the inner body while the outer one waits for its end. It is a runnable only so that
// `continuation.next` can point to it; it is in no queue.
template <class Yielded>
class generator_promise<Yielded>::nested : public runnable {
 public:
  explicit nested(handle_type inner) : inner_(inner) {
    expects(static_cast<bool>(inner_), "elements_of was given a generator that was moved from", "give it the new one");
  }
  nested(const nested&) = delete;
  nested& operator=(const nested&) = delete;
  ~nested() { destroy(); }

  static bool await_ready() noexcept { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> outer) noexcept {
    generator_promise& parent = outer.promise();
    generator_promise& inner = inner_.promise();
    expects(!(inner.flags & header_flag::started), "elements_of was given a generator that was begun",
            "hand it over before its begin()");
    inner.flags |= header_flag::started;
    inner.continuation = {this, outer, nullptr};
    root_ = &parent.root();
    root_->continuation.handle = inner_;
  }
  // At the end of the inner body, which is destroyed before the outer one continues.
  void await_resume() {
    destroy();
    if (error_) std::rethrow_exception(std::move(error_));
  }

 private:
  friend generator_promise;
  void destroy() noexcept {
    if (handle_type inner = std::exchange(inner_, {})) inner.destroy();
  }

  handle_type inner_;
  generator_promise* root_ = nullptr;
  std::exception_ptr error_;
};

}  // namespace detail

}}  // namespace hocket
