// The protocol for authors of primitives: a mutex, a queue or a pool of connections of the program's own.
//
// All names are in namespace hocket::primitive. docs/writing-a-primitive.md explains the protocol by an example.
//
//   operation<Op>   the result of lock() or receive(): a wait that has not begun (core/wait/seam/operation.hpp)
//   suspension      a wait under way: whether it is decided, what it takes at once (core/wait/seam/suspension.hpp)
//   waiter          the registration of a wait in a source's queue
//   wait_source     the base class of a source: what() names it, detach() unlinks a waiter, pass_on() grants again
//   wait_queue      a queue of waiters, first in, first out (core/wait/seam/wait_queue.hpp)
//   grant, grants   the duty to post the coroutines of claimed waits (core/wait/seam/grant.hpp)
//   thread_mutex    the lock of a source, held for some instructions (base/seam/mutex.hpp)
//   locked          its guard
//   atomic          std::atomic that the model checker can run (base/seam/atomic.hpp); fence() beside it
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <hocket/base/seam/locked.hpp>
#include <hocket/base/seam/mutex.hpp>
#include <hocket/core/wait/seam/grant.hpp>
#include <hocket/core/wait/seam/operation.hpp>
#include <hocket/core/wait/seam/suspension.hpp>
#include <hocket/core/wait/seam/wait_queue.hpp>
