#include <hocket/sync/semaphore.hpp>

namespace hocket { inline namespace HOCKET_ABI {

template class basic_semaphore<strength::shared>;
template class basic_semaphore<strength::unsync>;

}}  // namespace hocket
