#include <hocket/io_memory/memory_network.hpp>

#include "io_memory/memory_core.hpp"

#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

memory_network::memory_network(const memory_options& options) : core_(std::make_shared<detail::memory_core>(options)) {}
memory_network::~memory_network() = default;

memory_pair memory_network::make_pair() {
  auto [first, second] = core_->make_pair();
  return {std::move(first), std::move(second)};
}

void memory_network::reset(stream& end) noexcept { core_->reset(detail::descriptor_access::record_of(end)); }

result<tcp::listener> memory_network::listen(const socket_address& address, const tcp::listen_options& options) {
  return core_->listen(address, options);
}

detail::socket_opener& memory_network::opener() const noexcept { return *core_; }

result<udp::socket> memory_network::bind_datagrams(const socket_address& address, const udp::socket_options& options) {
  return core_->open_datagrams(address, {}, options);
}

result<udp::socket> memory_network::connect_datagrams(const socket_address& address,
                                                      const udp::connect_options& options) {
  if (!address.is_valid()) return failure(std::errc::invalid_argument);
  const socket_address& local = options.local_address;
  const udp::socket_options bind_options{.reuse_port = options.reuse_port, .broadcast = options.broadcast};
  return core_->open_datagrams(local.is_valid() ? local : address.with_port(0), address, bind_options);
}

}}  // namespace hocket
