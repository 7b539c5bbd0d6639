// std::min, std::max and std::copy without the rest of <algorithm>, if the standard library has a header for them.
#pragma once
#include <version>

#if defined(__GLIBCXX__) && __has_include(<bits/stl_algobase.h>)
#include <bits/stl_algobase.h>
#else
#include <algorithm>
#endif
