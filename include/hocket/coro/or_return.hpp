// or_return: the value of a result<T>, or else the task ends with its error.
//
//   task<result<page>> fetch(pool& from, url where) {
//     auto c = co_await or_return(from.acquire());            // an error: fetch() ends here, with that error
//     co_return co_await or_return(c.get(where));
//   }
//
// For tasks that return a result<U>, whatever U is. Takes what or_throw takes: everything whose await gives a
// result<T>. And a result<T> itself, of a plain function: of one that has a name it gives a reference to the value, of
// any other the value. No exception is thrown for an error. The task's locals are destroyed when its parent has taken
// the error, before the parent goes on, as if by co_return. An exception that what is awaited throws comes out of the
// co_await.
//
// Fibers return in the usual way: `if (auto r = await(x); !r) return r.error();`
// Cost: 20 to 30 instructions more than the bare co_await where that waits. Where it does not, a look at the result.
#pragma once
#include <hocket/core/or_throw.hpp>
#include <hocket/coro/detail/early_end.hpp>
#include <hocket/coro/task.hpp>
#include <optional>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

template <class Promise>
inline constexpr bool returns_result = false;
template <class Promise>
  requires ends_early<Promise>
inline constexpr bool returns_result<Promise> = is_result<typename Promise::result_type>;

// The awaiter of `A` (an lvalue or an rvalue reference).
template <class A>
class returning : public early_end {
  using given = std::remove_cvref_t<await_result_t<A>>;
  using way = way_to_await<std::remove_reference_t<A>, in_task>;

 public:
  explicit returning(A what) : early_end(&returning::resumed), inner_(way::begin(std::forward<A>(what))) {}
  returning(const returning&) = delete;
  returning& operator=(const returning&) = delete;

  bool await_ready() {
    if (!inner_.await_ready()) return false;
    got_.emplace(inner_.await_resume());
    return got_->has_value();
  }
  template <class Promise>
  handle await_suspend(std::coroutine_handle<Promise> self) {
    static_assert(returns_result<Promise>,
                  "hocket: or_return() is for tasks that return a result<T>; elsewhere use or_throw()");
    if (got_) return next_of(self.promise().end_here(failure(got_->error())));
    end_ = &returning::end<Promise>;
    return suspend(inner_, self.promise(), self);
  }
  typename given::value_type await_resume() {
    if (thrown_) [[unlikely]]
      std::rethrow_exception(std::move(thrown_));
    return *std::move(*got_);
  }

 private:
  static handle resumed(stand_in& frame) noexcept {
    auto& self = static_cast<returning&>(frame);
    try {
      self.got_.emplace(self.inner_.await_resume());
    } catch (...) {
      self.thrown_ = std::current_exception();
      return self.resume_task();
    }
    return *self.got_ ? self.resume_task() : self.end_(self);
  }
  template <class Promise>
  static handle end(returning& self) noexcept {
    return self.template promise<Promise>().end_here(failure(self.got_->error()));
  }

  typename way::awaiter inner_;
  std::optional<given> got_;
  std::exception_ptr thrown_;
  handle (*end_)(returning& self) noexcept = nullptr;
};

// The awaiter of a plain result.
template <class R>
class returning_result : public own_awaiter {
 public:
  explicit returning_result(R&& of) noexcept : of_(std::forward<R>(of)) {}
  returning_result(const returning_result&) = delete;
  returning_result& operator=(const returning_result&) = delete;

  bool await_ready() const noexcept { return of_.has_value(); }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) {
    static_assert(returns_result<Promise>,
                  "hocket: or_return() is for tasks that return a result<T>; elsewhere use value()");
    const std::coroutine_handle<> next = self.promise().end_here(failure(of_.error()));
    return next ? next : std::noop_coroutine();
  }
  decltype(auto) await_resume() {
    if constexpr (std::is_lvalue_reference_v<R>) return *of_;
    else return static_cast<typename R::value_type>(*std::move(of_));
  }

 private:
  R&& of_;
};

template <class A>
class [[nodiscard("an operation does nothing until it is awaited")]] or_return_adaptor {
 public:
  explicit or_return_adaptor(A&& a) : awaited_(std::forward<A>(a)) {}
  const std::remove_reference_t<A>& awaited() const noexcept { return awaited_; }
  static constexpr bool can_be_discarded = true;
  void discard() && noexcept { give_up_awaitable<A>(awaited_); }
  returning<A&&> operator co_await() && { return returning<A&&>(std::forward<A>(awaited_)); }

 private:
  A awaited_;  // a reference if `A` is one
};

}  // namespace detail

// The task ends with the error of `a`, or goes on with its value.
template <detail::awaitable_result A>
detail::or_return_adaptor<A> or_return(A&& a) {
  return detail::or_return_adaptor<A>(std::forward<A>(a));
}

namespace detail {

template <class R>
  requires is_result<std::remove_cvref_t<R>>
class [[nodiscard("nothing is looked at until it is awaited")]] or_return_result {
 public:
  explicit or_return_result(R&& of) : of_(std::forward<R>(of)) {}
  returning_result<R> operator co_await() && { return returning_result<R>(std::forward<R>(of_)); }

 private:
  R of_;  // a reference if `R` is one
};

}  // namespace detail

template <class R>
  requires detail::is_result<std::remove_cvref_t<R>>
detail::or_return_result<R> or_return(R&& of) {
  return detail::or_return_result<R>(std::forward<R>(of));
}

}}  // namespace hocket
