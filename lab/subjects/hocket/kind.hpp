#pragma once
// hocket's two kinds of coroutine on a loop, from one source: a fiber says await(x), a task (LAB_TASK) co_await x. What
// suspends within is called by a fiber (LAB_CALL), and awaited by a task. Nothing else differs. A program made for
// readers would say the one or the other.
#include <hocket/core/yield.hpp>
#include <hocket/runtime/loop.hpp>

#ifdef LAB_TASK
#include <hocket/coro/spawn.hpp>
#define LAB_AWAIT co_await
#define LAB_CALL(...) co_await __VA_ARGS__
#define LAB_END co_return

namespace lab {
using coroutine = hocket::task<void>;
}
#else
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#define LAB_AWAIT hocket::await
#define LAB_CALL(...) __VA_ARGS__
#define LAB_END return

namespace lab {
using coroutine = void;
}
#endif
