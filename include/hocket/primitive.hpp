// What primitives are made of, for the authors of a mutex, a queue, a pool of connections of their own. All of it is
// in namespace hocket::primitive. docs/writing-a-primitive.md writes one, and explains the protocol.
//
//   operation<Op>   what lock() or receive() returns: a wait that has not begun (core/detail/operation.hpp)
//   suspension      a wait that has begun: whether it is decided, what it takes at once (core/detail/suspension.hpp)
//   waiter          its place in a source's line
//   wait_source     the base class of a source: what() it is, detach() a waiter, pass_on() a resource
//   wait_queue       a queue of waiters, first come, first served (core/detail/wait_queue.hpp)
//   grant, grants   the right to resume the waiter or the waiters that were claimed (core/detail/grant.hpp)
//   thread_mutex    the lock of a source, held for some instructions (base/detail/mutex.hpp)
//   locked          its guard
//   atomic          std::atomic that the model checker can run (base/detail/atomic.hpp); fence() beside it
#pragma once
#include <hocket/base/detail/atomic.hpp>
#include <hocket/base/detail/locked.hpp>
#include <hocket/base/detail/mutex.hpp>
#include <hocket/core/detail/grant.hpp>
#include <hocket/core/detail/operation.hpp>
#include <hocket/core/detail/suspension.hpp>
#include <hocket/core/detail/wait_queue.hpp>
