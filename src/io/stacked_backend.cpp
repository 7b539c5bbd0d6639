#include <hocket/io/buffer.hpp>
#include <hocket/io/detail/lending.hpp>
#include <hocket/io/detail/whole_read.hpp>
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
part_of_buffers next_part(const transfer& what) noexcept {
  const auto* buffer = static_cast<const Buffer*>(what.data);
  std::size_t before = what.done;
  while (before >= buffer->size()) before -= (buffer++)->size();
  return {const_cast<std::byte*>(std::as_const(*buffer).data()) + before, buffer->size() - before};
}

call_end refuse(transfer& what) noexcept {
  what.fail(EOPNOTSUPP);
  return call_end::done;
}

}  // namespace

int stacked_backend::push(open_descriptor& at) noexcept {
  expects(below_ == nullptr, "a stacked_backend was pushed twice", "make one for each descriptor", name());
  return at.put_on_top(*this, below_);
}

void stacked_backend::close(open_descriptor& gone) noexcept {
  std::exchange(below_, nullptr)->close(gone);
  release();
}

call_end stacked_backend::carry_out(open_descriptor& at, transfer& what) noexcept {
  switch (what.kind) {
    case call_kind::read: return read(at, what);
    case call_kind::write: return write(at, what);
    case call_kind::scatter: return in_parts(at, what, call_kind::read);
    case call_kind::gather: return in_parts(at, what, call_kind::write);
    case call_kind::borrow: return lending::lend(at, what, &read_at);
    case call_kind::discard: return lending::discard(at, what, &read_at);
    case call_kind::read_all: return go_on_reading(*this, at, what);
    case call_kind::look: return look(at, what);
    case call_kind::drain: return call_below(at, what);
    case call_kind::peek:
    case call_kind::accept:
    case call_kind::connect:
    case call_kind::receive:
    case call_kind::send:
    case call_kind::receive_passing:
    case call_kind::send_passing:
    case call_kind::send_file:
    case call_kind::child: return refuse(what);
  }
  __builtin_unreachable();
}

// A backend below another stacked one is asked for no such transfer, so this one is the descriptor's.
call_end stacked_backend::read_at(open_descriptor& at, transfer& what) {
  transfer part(*what.side, call_kind::read, what.data, what.size);
  const call_end end = static_cast<stacked_backend&>(at.system()).read(at, part);
  what.done = part.done;
  what.error = part.error;
  what.ended = part.ended;
  return end;
}

// One buffer at a time: the party comes again for the next one.
call_end stacked_backend::in_parts(open_descriptor& at, transfer& what, call_kind kind) noexcept {
  const bool reads = kind == call_kind::read;
  const part_of_buffers next = reads ? next_part<mutable_buffer>(what) : next_part<const_buffer>(what);
  transfer part(*what.side, kind, next.data, next.size);
  const call_end end = reads ? read(at, part) : write(at, part);
  if (part.ended == 0) return end;
  if (part.error != 0) return what.fail(part.error), call_end::done;
  if (part.done != 0) return moved(what, part.done, end);
  if (what.whole) what.fail(transfer::end_of_stream);
  what.ended = true;
  return call_end::done;
}

call_end stacked_backend::moved(transfer& what, std::size_t bytes, call_end below) noexcept {
  what.done += bytes;
  if (what.whole && what.done != what.size) return below == call_end::drained ? call_end::blocks : call_end::more;
  what.ended = true;
  return below == call_end::drained ? call_end::drained : call_end::done;
}

int stacked_backend::set_option(open_descriptor& at, int level, int name, const void* value,
                                std::size_t size) noexcept {
  return below_->set_option(at, level, name, value, size);
}
int stacked_backend::get_option(open_descriptor& at, int level, int name, void* value, std::size_t& size) noexcept {
  return below_->get_option(at, level, name, value, size);
}
int stacked_backend::shut_down(open_descriptor& at, int how) noexcept { return below_->shut_down(at, how); }
int stacked_backend::address_of(open_descriptor& at, socket_side which, void* into, std::size_t& size) noexcept {
  return below_->address_of(at, which, into, size);
}
std::size_t stacked_backend::unsent(open_descriptor& at) noexcept { return below_->unsent(at); }

}}}  // namespace hocket::detail
