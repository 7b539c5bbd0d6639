// See x86_64/vector_registers.hpp.
#pragma once

namespace hocket_test {

inline void clear_vector_registers() {}

}  // namespace hocket_test
