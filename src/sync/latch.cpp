#include <hocket/sync/latch.hpp>

namespace hocket { inline namespace HOCKET_ABI {

template class basic_latch<strength::shared>;
template class basic_latch<strength::unsync>;

}}  // namespace hocket
