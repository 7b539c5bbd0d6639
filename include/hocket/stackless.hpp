// Everything that needs no stack switch: tasks, generators and what they wait with.
#pragma once
#include <hocket/base/error.hpp>
#include <hocket/base/fatal.hpp>
#include <hocket/base/result.hpp>
#include <hocket/core/context.hpp>
#include <hocket/core/stop.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/generator.hpp>
#include <hocket/coro/task.hpp>
