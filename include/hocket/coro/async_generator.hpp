// async_generator<T>: a sequence computed by a coroutine that waits, too.
//
//   async_generator<line> lines(connection& from) {
//     for (;;) {
//       auto got = co_await from.read();                       // whatever a task can await
//       if (!got) co_return;
//       for (line& l : split(*got)) co_yield l;
//     }
//   }
//   auto all = lines(c);
//   while (line* l = co_await all.next()) use(*l);             // in a fiber and on a thread: await(all.next())
//
// next() asks for one value. It gives a pointer to it, or null at the end, and again null whenever it is asked after
// the end. What the body throws comes out of that next(), the same object, and ends the sequence.
//
// Values are T&&, as those of generator<T>: async_generator<T> refers to an object that may be moved from (an lvalue
// that is yielded is copied first), async_generator<T&> and async_generator<const T&> to the object that was yielded.
// The pointer is valid until the next next(); the body stands still meanwhile.
//
// The body is a child of whoever asks, as an awaited task is (task.hpp): it runs at once on the reader's thread, on its
// executor and under its context, so the reader's stop, deadline and kill are those of the waits in the body; a value
// is a symmetric transfer down and one up, and draws on the same budget. Readers may change from one value to the next,
// in kind and in thread. There is no queue and no lock: one next() at a time, and the second is fatal.
//
// Destroying it when it has not begun, stands at a co_yield or has ended destroys the body, its locals first; what the
// destructors of those locals do cannot wait. Destroying it while a next() is under way is a programming error, found
// at level debug: cancel the reader and let it end. Like a task, one that is driven by hand, without an executor, may
// be destroyed with the reader at any time.
//
// Frames come from frame memory, or from an allocator (frame_allocation.hpp). A value takes no memory.
#pragma once
#include <hocket/coro/detail/frame_allocation.hpp>
#include <hocket/coro/detail/task_promise.hpp>
#include <concepts>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

// Level debug: an async_generator is about to be destroyed. Fatal if somebody waits for its next value.
void expect_idle(const coroutine_header& body) noexcept;

// The body's place in the chain of whoever asks: a task that starts anew with each next(), and ends with each value.
template <class Yielded>
class async_generator_promise : public task_chain {
  using object = std::remove_reference_t<Yielded>;
  using chain_handle = std::coroutine_handle<async_generator_promise>;

  // Suspends the body at a value that lies in the coroutine's frame.
  class at_value {
   public:
    explicit at_value(async_generator_promise& promise) noexcept : promise_(promise) {}
    static bool await_ready() noexcept { return false; }
    handle await_suspend(handle) const noexcept { return promise_.end(); }
    static void await_resume() noexcept {}

   protected:
    async_generator_promise& promise_;
  };
  class at_copy : public at_value {
    static_assert(fits_frame<object>,
                  "hocket: an over-aligned value is not copied into a frame: co_yield std::move(it)");

   public:
    at_copy(async_generator_promise& promise, const object& value) : at_value(promise), copy_(value) {}
    handle await_suspend(handle) noexcept {
      this->promise_.value_ = std::addressof(copy_);
      return this->promise_.end();
    }

   private:
    std::remove_cv_t<object> copy_;
  };

 public:
  static std::suspend_always initial_suspend() noexcept { return {}; }
  at_value yield_value(Yielded yielded) noexcept {
    value_ = std::addressof(yielded);
    return at_value(*this);
  }
  at_copy yield_value(const object& yielded)
    requires(std::is_rvalue_reference_v<Yielded> && std::constructible_from<std::remove_cv_t<object>, const object&>)
  {
    return at_copy(*this, yielded);
  }
  static void return_void() noexcept {}
  void unhandled_exception() noexcept { error_ = std::current_exception(); }

  // By next(). Whether there is nothing to run any more.
  bool ended() noexcept {
    expects(!(reserved & task_bit::asked), "an async_generator was asked for a value while a next() is under way",
            "one reader at a time: await one next() before the other");
    return chain_handle::from_promise(*this).done();
  }
  template <class Promise>
  handle ask(std::coroutine_handle<Promise> reader) noexcept {
    value_ = nullptr;
    reserved = task_bit::asked;
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

// What next() gives to be awaited.
template <class Yielded>
class [[nodiscard("co_await it (await it in a fiber)")]] next_value : public body_awaiter {
 public:
  explicit next_value(async_generator_promise<Yielded>& of) noexcept : of_(&of) {}
  bool await_ready() const noexcept { return of_->ended(); }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> reader) const noexcept {
    return of_->ask(reader);
  }
  std::remove_reference_t<Yielded>* await_resume() const { return of_->take(); }

 private:
  async_generator_promise<Yielded>* of_;
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
      promise& of = *this;
      return async_generator(std::coroutine_handle<promise>::from_promise(of));
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

  // Whether it holds a coroutine: false after a move.
  explicit operator bool() const noexcept { return static_cast<bool>(body_); }

  // Asks for the next value when it is awaited: a pointer to it, null at the end. Throws what the body throws.
  detail::next_value<T&&> next() noexcept {
    detail::expects(static_cast<bool>(body_), "next() of an async_generator that was moved from", "ask the new one");
    return detail::next_value<T&&>(body_.promise());
  }

 private:
  explicit async_generator(std::coroutine_handle<promise> body) noexcept : body_(body) {}

  std::coroutine_handle<promise> body_;
};

}}  // namespace hocket
