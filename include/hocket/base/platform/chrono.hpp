// std::chrono's durations, clocks and literals, without its calendar: where the standard library has them in a header
// of their own. The whole of <chrono> is three fourths of what a program pays for including hocket's time.
#pragma once
#include <version>

#if defined(__GLIBCXX__) && __has_include(<bits/chrono.h>)
#include <bits/chrono.h>
#else
#include <chrono>
#endif
