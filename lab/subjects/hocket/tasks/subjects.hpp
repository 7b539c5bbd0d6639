#pragma once
// The program hocket-tasks: what hocket has beside the plain task, for the page `tasks`. It is called as
// `<program> <system> <workload> <n> <stack bytes> <budget ms>`.
#include "harness.hpp"

namespace lab {

int kinds(const char* system, const request& r);  // eager tasks, shared tasks, propagate(): the workloads of awaits.hpp
int together(const char* system, const request& r);  // when_all
int steps(const char* system, const request& r);     // async_values
int trips(const char* system, const request& r);     // oneshot_trip

}  // namespace lab
