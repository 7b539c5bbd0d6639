#include <hocket/sync/shared_mutex.hpp>

namespace hocket { inline namespace HOCKET_ABI {

template class basic_shared_mutex<strength::shared>;
template class basic_shared_mutex<strength::unsync>;

}}  // namespace hocket
