// The whole library except I/O and network: tasks, generators and fibers. Needs a stackful build.
// stackless.hpp is the part that does not; net.hpp has I/O and network.
#pragma once
#include <hocket/core/spawn/seam/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/call_on_stack.hpp>
#include <hocket/fiber/coroutine.hpp>
#include <hocket/fiber/fiber_local.hpp>
#include <hocket/fiber/hibernate.hpp>
#include <hocket/fiber/overflow_report.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/fiber/stack_use.hpp>
#include <hocket/stackless.hpp>
