// How the exception of a task is thrown in its parent.
//
// std::rethrow_exception() takes its argument by value. A function that calls it owns an exception_ptr during the
// throw, so the unwinder stops in that function to destroy it. In a chain of tasks this means one more stop, and one
// more _Unwind_Resume(), for each task that an exception passes: half of the cost of a level (docs/decisions/021).
// Instead, the task object owns the exception_ptr, and throw_kept() refers to it.
//
// A task is one word, the handle of its body. The body is destroyed before the throw, and a *keeper* takes its place: a
// coroutine with the exception_ptr in its promise, which never runs. The end of the task object destroys the keeper
// like any body: a temporary ends before a handler of the parent begins.
#pragma once
#include <hocket/coro/detail/task_promise.hpp>
#include <exception>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

struct error_keeper {
  std::coroutine_handle<coroutine_header> body;  // null: there is no memory, and nothing was moved
  const std::exception_ptr* error;               // in it

  static error_keeper make(std::exception_ptr& error) noexcept;
};

// std::rethrow_exception() by another type. The Itanium C++ ABI, which every platform of hocket has, passes an argument
// with a destructor by its address, so a function that takes a reference is called alike. It reads the pointer before
// it throws. Called in tail position it leaves no frame of its caller: hence a result, and a pointer that the compiler
// does not see through (it makes no tail call of a function that does not return).
extern void* (*const throw_kept)(const std::exception_ptr& error);

}}}  // namespace hocket::detail
