// The posters of one execution, in place of those that the library keeps for good: as long as there are some here, each
// thread of the model has one; else it has none, and the pool counts.
#pragma once
#include "runtime/poster.hpp"

#include <array>

namespace hocket_test {

class posters {
 public:
  posters() noexcept { present = this; }
  posters(const posters&) = delete;
  posters& operator=(const posters&) = delete;
  ~posters() { present = nullptr; }

  static inline posters* present = nullptr;
  std::array<hocket::detail::poster, 8> of_thread;
};

}  // namespace hocket_test
