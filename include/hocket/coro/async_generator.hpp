// A sequence that a coroutine computes, and that may wait between its values.
//
//   async_generator<line> lines(connection& source) {
//     for (;;) {
//       auto data = co_await source.read();                    // any awaitable of a task
//       if (!data) co_return;
//       for (line& l : split(*data)) co_yield l;
//     }
//   }
//   auto all = lines(c);
//   while (line* l = co_await all.next()) use(*l);             // in a fiber and on a thread: await(all.next())
//
// next() requests one value. It returns a pointer to the value; null at the end, and for each request after the end.
// The pointer is valid until the next next(). Until then the body is suspended.
//
// Values are T&&, as in generator<T>. async_generator<T> refers to an object that may be moved from (a yielded lvalue
// is copied first). async_generator<T&> and async_generator<const T&> refer to the yielded object.
//
// Errors. next() throws the exception of the body, the same object. This ends the sequence.
//
// Execution. The body is a child of its reader, like an awaited task (task.hpp). It runs at once on the reader's
// thread, on the reader's executor and under the reader's context. A value is one symmetric transfer down and one up,
// from the same budget. The readers of two values may be of different kinds and on different threads.
//
// Cancellation. The reader's stop, deadline and kill apply to the waits in the body.
//
// Thread safety. There is no queue and no lock: one next() at a time. A second one is fatal.
//
// Destruction. If the body has not begun, is suspended at a co_yield or has ended, then destroying the generator
// destroys the body, its locals first. The destructors of the locals cannot wait. Do not destroy a generator during a
// next() (found at check level `debug`): cancel the reader and let it end. Like a task, a generator that is driven by
// hand, without an executor, may be destroyed with its reader at any time.
//
// Memory. Frames are in frame memory, or in memory of an allocator (frame_allocation.hpp). A value allocates nothing.
#pragma once
#include <hocket/coro/detail/frame_allocation.hpp>
#include <hocket/coro/detail/task_promise.hpp>
#include <concepts>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

// Level debug, before the destruction of an async_generator: fatal if a reader waits for its next value.
void expect_idle(const coroutine_header& body) noexcept;

// The body's place in the reader's chain: a task that starts again with each next(), and ends with each value.
template <class Yielded>
class async_generator_promise : public task_chain {
  using object = std::remove_reference_t<Yielded>;
  using chain_handle = std::coroutine_handle<async_generator_promise>;

  // Suspends the body at a value in the coroutine's frame.
  class value_awaiter {
   public:
    explicit value_awaiter(async_generator_promise& promise) noexcept : promise_(promise) {}
    static bool await_ready() noexcept { return false; }
    handle await_suspend(handle) const noexcept { return promise_.end(); }
    static void await_resume() noexcept {}

   protected:
    async_generator_promise& promise_;
  };
  class copy_awaiter : public value_awaiter {
    static_assert(fits_frame<object>,
                  "hocket: an over-aligned value is not copied into a frame: co_yield std::move(it)");

   public:
    copy_awaiter(async_generator_promise& promise, const object& value) : value_awaiter(promise), copy_(value) {}
    handle await_suspend(handle) noexcept {
      this->promise_.value_ = std::addressof(copy_);
      return this->promise_.end();
    }

   private:
    std::remove_cv_t<object> copy_;
  };

 public:
  static std::suspend_always initial_suspend() noexcept { return {}; }
  value_awaiter yield_value(Yielded yielded) noexcept {
    value_ = std::addressof(yielded);
    return value_awaiter(*this);
  }
  copy_awaiter yield_value(const object& yielded)
    requires(std::is_rvalue_reference_v<Yielded> && std::constructible_from<std::remove_cv_t<object>, const object&>)
  {
    return copy_awaiter(*this, yielded);
  }
  static void return_void() noexcept {}
  void unhandled_exception() noexcept { error_ = std::current_exception(); }

  // Called by next(). Whether the body has ended.
  bool ended() noexcept {
    expects(!(reserved & task_bit::next_pending),
            "an async_generator was asked for a value while a next() is under way",
            "one reader at a time: await one next() before the other");
    return chain_handle::from_promise(*this).done();
  }
  template <class Promise>
  handle start_next(std::coroutine_handle<Promise> reader) noexcept {
    value_ = nullptr;
    reserved = task_bit::next_pending;
    flags = header_flag::parent_has_header;
    continuation.home = nullptr;
    return start(chain_handle::from_promise(*this), reader);
  }
  object* take() {
    dequeued();
    reserved = 0;
    if (error_) [[unlikely]]
      std::rethrow_exception(std::exchange(error_, {}));
    return value_;
  }

 private:
  object* value_ = nullptr;
  std::exception_ptr error_;
};

// The awaitable of next().
template <class Yielded>
class [[nodiscard("co_await it (await it in a fiber)")]] next_value : public body_awaiter {
 public:
  explicit next_value(async_generator_promise<Yielded>& body) noexcept : body_(&body) {}
  bool await_ready() const noexcept { return body_->ended(); }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> reader) const noexcept {
    return body_->start_next(reader);
  }
  std::remove_reference_t<Yielded>* await_resume() const { return body_->take(); }

 private:
  async_generator_promise<Yielded>* body_;
};

}  // namespace detail

template <class T>
class [[nodiscard]] async_generator {
  static_assert(std::is_reference_v<T> || (std::is_object_v<T> && !std::is_array_v<T>),
                "async_generator<T>: T is an object type or a reference");
  using promise = detail::async_generator_promise<T&&>;

 public:
  using value_type = std::remove_cvref_t<T>;
  using pointer = std::remove_reference_t<T>*;
  struct promise_type : promise {
    async_generator get_return_object() noexcept {
      promise& self = *this;
      return async_generator(std::coroutine_handle<promise>::from_promise(self));
    }
  };

  async_generator(async_generator&& other) noexcept : body_(std::exchange(other.body_, {})) {}
  async_generator& operator=(async_generator&& other) noexcept {
    async_generator old(std::move(other));
    std::swap(body_, old.body_);
    return *this;
  }
  ~async_generator() {
    if (!body_) return;
    if constexpr (detail::debug_checks) detail::expect_idle(body_.promise());
    body_.destroy();
  }

  // Whether the generator holds a coroutine: false after a move.
  explicit operator bool() const noexcept { return static_cast<bool>(body_); }

  // Awaiting it requests the next value, and returns a pointer to the value, or null at the end. Throws the exception
  // of the body.
  detail::next_value<T&&> next() noexcept {
    detail::expects(static_cast<bool>(body_), "next() of an async_generator that was moved from", "ask the new one");
    return detail::next_value<T&&>(body_.promise());
  }

 private:
  explicit async_generator(std::coroutine_handle<promise> body) noexcept : body_(body) {}

  std::coroutine_handle<promise> body_;
};

}}  // namespace hocket
