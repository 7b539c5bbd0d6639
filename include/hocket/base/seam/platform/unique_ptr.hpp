// std::unique_ptr without the rest of <memory>, if the standard library has a header for it.
#pragma once
#include <version>

#if defined(__GLIBCXX__) && __has_include(<bits/unique_ptr.h>)
#include <bits/unique_ptr.h>
#else
#include <memory>
#endif
