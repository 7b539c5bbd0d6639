#pragma once
// Reads of sockets as arms of a select, on the page `primitives`, for hocket.
#include <hocket/net/unix_stream.hpp>

#include "../waits.hpp"
#include "primitives/primitives.hpp"

namespace lab {

inline bool select_of_2_sockets(const load&, std::uint64_t k) {
  hocket::unix_pair pairs[2][2];
  for (auto& inputs : pairs)
    for (hocket::unix_pair& pair : inputs) pair = hocket::make_unix_pair().value();
  std::uint64_t right = 0;
  both([&](int me) -> coroutine {
    char first_byte = 0, second_byte = 0;
    auto& mine = pairs[me];
    auto& others = pairs[1 - me];
    for (std::uint64_t i = 0; i < k / 2; ++i) {
      if (me == 0) LAB_AWAIT(others[i % 2].far.write_some("x"));
      auto first =
          LAB_AWAIT(select(mine[0].near.read_some({&first_byte, 1}), mine[1].near.read_some({&second_byte, 1})));
      if (!first) break;
      right += first->index() == i % 2;
      if (me == 1) LAB_AWAIT(others[i % 2].far.write_some("x"));
    }
    LAB_END;
  });
  return right == k;
}

}  // namespace lab
