// The backend and the socket opener of a network in memory, over the objects of one medium.
#pragma once
#include <hocket/core/thread/seam/driver.hpp>
#include <hocket/io/seam/backend.hpp>
#include <hocket/io/seam/open_descriptor.hpp>
#include <hocket/net/tcp.hpp>
#include <hocket/net/udp.hpp>

#include "io_memory/memory_medium.hpp"

#include <memory>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class memory_core final : public backend, public socket_opener, public std::enable_shared_from_this<memory_core> {
 public:
  explicit memory_core(const memory_options& options);
  ~memory_core();

  std::pair<tcp::stream, tcp::stream> make_pair();
  void reset(open_descriptor& record) noexcept;
  // Throw std::bad_alloc.
  result<tcp::listener> listen(const socket_address& address, const tcp::listen_options& options);
  // Opens a socket that is bound to `local`. If `remote` is valid, connects it.
  result<udp::socket> open_datagrams(const socket_address& local, const socket_address& remote,
                                     const udp::socket_options& options);

  // socket_opener
  open_descriptor* open(const socket_address& to, const socket_address& from, bool no_delay,
                        int& error) noexcept override;

  // backend
  const char* name() const noexcept override { return "memory"; }
  call_end carry_out(open_descriptor& record, transfer& operation) noexcept override;
  result<io_driver*> driver_here() noexcept override;
  void close(open_descriptor& record) noexcept override;
  int set_option(open_descriptor& record, int level, int name, const void* value, std::size_t size) noexcept override;
  int shut_down(open_descriptor& record, int directions) noexcept override;
  int address_of(open_descriptor& record, socket_side side, void* target, std::size_t& size) noexcept override;
  std::size_t unsent(open_descriptor& record) noexcept override;

 private:
  class kind;

  std::shared_ptr<memory_medium> medium();

  memory_medium medium_;
  const std::unique_ptr<kind> kind_;
};

}}}  // namespace hocket::detail
