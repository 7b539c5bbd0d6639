#include <hocket/sync/once.hpp>

namespace hocket { inline namespace HOCKET_ABI {

template class basic_once<strength::shared>;
template class basic_once<strength::unsync>;

}}  // namespace hocket
