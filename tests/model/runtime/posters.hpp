// The posters of one execution, in place of the library's. While an object exists, each thread of the model has a
// poster. Otherwise no thread has one, and the pool counts posts.
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
