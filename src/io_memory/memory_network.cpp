#include <hocket/io_memory/memory_network.hpp>

#include "io_memory/memory_core.hpp"

namespace hocket::inline HOCKET_ABI {

memory_network::memory_network(const memory_options& options) : core_(std::make_shared<detail::memory_core>(options)) {}
memory_network::~memory_network() = default;

memory_pair memory_network::connect() { return core_->connect(); }

void memory_network::reset(stream& one) noexcept {
  core_->reset(*static_cast<detail::memory_end*>(detail::descriptor_access::record_of(one).data()));
}

}  // namespace hocket::inline HOCKET_ABI
