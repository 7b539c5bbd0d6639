#include <hocket/io/buffer.hpp>
#include <hocket/io/seam/stacked_backend.hpp>

#include <cerrno>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

struct part_of_buffers {
  void* data = nullptr;
  std::size_t size = 0;
};

// The buffer that holds the byte behind the first `done`, from there on.
template <class Buffer>
part_of_buffers next_part(const transfer& operation) noexcept {
  const auto* buffer = static_cast<const Buffer*>(operation.data);
  std::size_t before = operation.done;
  while (before >= buffer->size()) before -= (buffer++)->size();
  return {const_cast<std::byte*>(std::as_const(*buffer).data()) + before, buffer->size() - before};
}

call_end refuse(transfer& operation) noexcept {
  operation.fail(EOPNOTSUPP);
  return call_end::done;
}

}  // namespace

int stacked_backend::push(open_descriptor& at) noexcept {
  expects(below_ == nullptr, "a stacked_backend was pushed twice", "make one for each descriptor", name());
  return at.put_on_top(*this, below_);
}

void stacked_backend::close(open_descriptor& closed) noexcept {
  std::exchange(below_, nullptr)->close(closed);
  release();
}

call_end stacked_backend::carry_out(open_descriptor& at, transfer& operation) noexcept {
  switch (operation.kind) {
    case call_kind::read: return read(at, operation);
    case call_kind::write: return write(at, operation);
    case call_kind::scatter: return in_parts(at, operation, call_kind::read);
    case call_kind::gather: return in_parts(at, operation, call_kind::write);
    case call_kind::borrow: return lending::lend(at, operation, &read_at);
    case call_kind::discard: return lending::discard(at, operation, &read_at);
    case call_kind::read_all: return continue_read_all(*this, at, operation);
    case call_kind::look: return check_readiness(at, operation);
    case call_kind::peek:
    case call_kind::accept:
    case call_kind::connect:
    case call_kind::receive:
    case call_kind::send:
    case call_kind::receive_passing:
    case call_kind::send_passing:
    case call_kind::send_file:
    case call_kind::child: return refuse(operation);
  }
  __builtin_unreachable();
}

// A backend below another stacked one is asked for no such transfer, so this one is the descriptor's.
call_end stacked_backend::read_at(open_descriptor& at, transfer& operation) {
  transfer part(*operation.side, call_kind::read, operation.data, operation.size);
  const call_end end = static_cast<stacked_backend&>(at.system()).read(at, part);
  operation.done = part.done;
  operation.error = part.error;
  operation.ended = part.ended;
  return end;
}

// One buffer at a time: the party comes again for the next one.
call_end stacked_backend::in_parts(open_descriptor& at, transfer& operation, call_kind kind) noexcept {
  const bool reads = kind == call_kind::read;
  const part_of_buffers next = reads ? next_part<mutable_buffer>(operation) : next_part<const_buffer>(operation);
  transfer part(*operation.side, kind, next.data, next.size);
  part.more = operation.more != 0 || operation.done + next.size < operation.size;
  const call_end end = reads ? read(at, part) : write(at, part);
  if (part.ended == 0) return end;
  if (part.error != 0) return operation.fail(part.error), call_end::done;
  if (part.done != 0) return moved(operation, part.done, end);
  if (operation.whole) operation.fail(transfer::end_of_stream);
  operation.ended = true;
  return call_end::done;
}

call_end stacked_backend::moved(transfer& operation, std::size_t bytes, call_end below) noexcept {
  operation.done += bytes;
  if (operation.whole && operation.done != operation.size)
    return below == call_end::drained ? call_end::blocks : call_end::more;
  operation.ended = true;
  return below == call_end::drained ? call_end::drained : call_end::done;
}

int stacked_backend::set_option(open_descriptor& at, int level, int name, const void* value,
                                std::size_t size) noexcept {
  return below_->set_option(at, level, name, value, size);
}
int stacked_backend::get_option(open_descriptor& at, int level, int name, void* value, std::size_t& size) noexcept {
  return below_->get_option(at, level, name, value, size);
}
int stacked_backend::shut_down(open_descriptor& at, int directions) noexcept {
  return below_->shut_down(at, directions);
}
int stacked_backend::address_of(open_descriptor& at, socket_side which, void* into, std::size_t& size) noexcept {
  return below_->address_of(at, which, into, size);
}
std::size_t stacked_backend::unsent(open_descriptor& at) noexcept { return below_->unsent(at); }

}}}  // namespace hocket::detail
