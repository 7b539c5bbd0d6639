// A connected socket: a stream whose two directions can be shut down apart, and that knows its addresses.
#pragma once
#include <hocket/io/stream.hpp>
#include <hocket/net/address.hpp>

namespace hocket { inline namespace HOCKET_ABI {

// A stream whose directions can be shut down apart.
class socket_stream : public stream {
 public:
  socket_stream() noexcept = default;
  // Takes the descriptor of a connected socket over.
  explicit socket_stream(descriptor&& of) noexcept : stream(std::move(of)) {}

  // The peer reads the end of the stream behind what was written before. Errors: as shutdown(2).
  result<void> shutdown_write() noexcept;
  // Reads, also waiting ones, give what is there already, and then 0. TCP still takes what the peer sends.
  result<void> shutdown_read() noexcept;

  // Invalid if there is none, or the socket is closed.
  socket_address local_address() const noexcept;
  socket_address peer_address() const noexcept;
};

}}  // namespace hocket
