// The state of a fiber that extensions read and change: its control block and flags, the record at the top of its
// stack, the fibers of a thread, and called stacks.
#pragma once
#include <hocket/fiber/detail/called_stack.hpp>
#include <hocket/fiber/detail/control_block.hpp>
#include <hocket/fiber/detail/fiber_record.hpp>
