#pragma once
// The workloads that only tasks have, since the children of a when_all are tasks: hocket_groups.cpp.
#include "scheduler/scheduler.hpp"

namespace hocket { inline namespace HOCKET_ABI {
class runtime;
}}  // namespace hocket

namespace lab {

void together(const char* system, const load& r);

// timer_cancel and timer_cancel_1e6, on a runtime where the other timers are already.
void cancel_timers(const char* system, const load& r, hocket::runtime& rt);

}  // namespace lab
