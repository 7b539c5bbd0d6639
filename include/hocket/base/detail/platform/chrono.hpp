// std::chrono's durations, clocks and literals without its calendar, if the standard library has a header for them:
// a fifth of the parse time of <chrono>.
#pragma once
#include <version>

#if defined(__GLIBCXX__) && __has_include(<bits/chrono.h>)
#include <bits/chrono.h>
#else
#include <chrono>
#endif
