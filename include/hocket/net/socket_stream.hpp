// A connected socket: a stream with addresses, and with two directions that shut down separately.
#pragma once
#include <hocket/io/stream.hpp>
#include <hocket/net/address.hpp>
#include <hocket/net/detail/graceful_close.hpp>

namespace hocket { inline namespace HOCKET_ABI {

// A stream over a connected socket.
class socket_stream : public stream {
 public:
  socket_stream() noexcept = default;
  // Takes ownership of the descriptor of a connected socket.
  explicit socket_stream(descriptor&& owner) noexcept : stream(std::move(owner)) {}

  // Reads at least one byte, as soon as there is one, and at most what fits into the buffer; the bytes stay in the
  // socket, and the next read gets them again. Returns how many bytes. 0: the end of the stream. If that
  // is less than the caller needs, a further peek() returns the same bytes: read them, to wait for more. Errors: as
  // recv(2).
  auto peek(mutable_buffer buffer, call_site site = this_call_site()) noexcept {
    return primitive::operation<detail::bytes_operation>(std::in_place, site, record().in, detail::call_kind::peek,
                                                         buffer.data(), buffer.size());
  }

  // Waits until the server of this connection drains (net/serve.hpp): a handler of a long stream says goodbye then, as
  // in select(news.receive(), peer.drain_requested()). From then on the operation returns at once. The end of the
  // peer's stream does not end the wait. Any number of coroutines may wait at the same time, for the drain and in
  // closed(). If no server has accepted the stream, the operation waits for ever.
  auto drain_requested(call_site site = this_call_site()) noexcept {
    return primitive::operation<detail::drain_operation>(std::in_place, site, record());
  }

  // Ends writing: the peer reads the bytes written before, and then the end of the stream. Errors: as shutdown(2).
  result<void> shutdown_write() noexcept;
  // Ends reading: reads, also waiting reads, return the bytes that have arrived, and then 0. TCP still accepts bytes of
  // the peer.
  result<void> shutdown_read() noexcept;

  // Closes so that the peer receives all bytes written before, even if bytes of the peer are unread: shuts down
  // writing, reads and drops bytes until the end of the stream, and closes. (If a socket is closed while its peer
  // sends, the connection is reset, and bytes on their way are lost.) It waits as long as the peer sends or stays
  // connected:
  //
  //   static_cast<void>(co_await within(2s, peer.close_gracefully()));
  //
  // On success the stream is closed. After an error it is not closed, and its destructor closes it at once. Errors: the
  // errors of shutdown(2) and of a read. A connection of a server is closed in this way when its stream is destroyed
  // (net/serve.hpp).
  auto close_gracefully(call_site site = this_call_site()) noexcept {
    return primitive::operation<detail::graceful_close_operation>(std::in_place, site, record());
  }

  // An invalid address if there is none, or if the socket is closed. A connection that was made by tcp::connect() or
  // accepted by a listener keeps the internet address of its peer when it is reset.
  socket_address local_address() const noexcept;
  socket_address peer_address() const noexcept;
};

}}  // namespace hocket
