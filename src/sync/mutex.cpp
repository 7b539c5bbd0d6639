#include <hocket/sync/mutex.hpp>

namespace hocket { inline namespace HOCKET_ABI {

template class basic_mutex<strength::shared>;
template class basic_mutex<strength::unsync>;

}}  // namespace hocket
