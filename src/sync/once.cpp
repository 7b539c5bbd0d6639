#include <hocket/sync/once.hpp>

namespace hocket::inline HOCKET_ABI {

template class basic_once<strength::shared>;
template class basic_once<strength::unsync>;

}  // namespace hocket::inline HOCKET_ABI
