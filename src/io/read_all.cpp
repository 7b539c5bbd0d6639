#include <hocket/io/read_all.hpp>

#include <algorithm>
#include <cerrno>
#include <memory>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

constexpr std::size_t first_size = 4096;

whole_read& state_of(const transfer& operation) noexcept { return *static_cast<whole_read*>(operation.data); }

}  // namespace

// The room has one byte beyond the limit: if the stream fills it, the text is too long.
int whole_read::make_room() noexcept {
  if (room() != 0) return 0;
  if (size > limit) return EMSGSIZE;
  const std::size_t max_size = std::max(limit, limit + 1);
  try {
    text.resize(std::min(max_size, std::max(first_size, 2 * size)));
  } catch (...) {  // bad_alloc, or length_error
    return ENOMEM;
  }
  return 0;
}

call_end continue_read_all(backend& system, open_descriptor& record, transfer& operation) noexcept {
  whole_read& state = state_of(operation);
  if (const int error = state.make_room()) {
    operation.fail(error);
    return call_end::done;
  }
  transfer part(*operation.side, call_kind::read, state.text.data() + state.size, state.room());
  const call_end end = system.carry_out(record, part);
  if (part.ended == 0) return end;
  if (part.error != 0) {
    operation.fail(part.error);
  } else if (part.done == 0) {
    operation.ended = true;
  } else {
    state.size += part.done;
    if (state.size > state.limit) {
      operation.fail(EMSGSIZE);
      return call_end::done;
    }
    return end == call_end::drained ? call_end::blocks : call_end::more;
  }
  return end;
}

bool read_all_operation::point() noexcept {
  if (data) return true;
  data = new (std::nothrow) whole_read(size);
  if (!data) fail(ENOMEM);
  return data != nullptr;
}

result<std::string> read_all_operation::take() noexcept {
  if (error != 0) wait_failed();
  const std::unique_ptr<whole_read> state(static_cast<whole_read*>(std::exchange(data, nullptr)));
  if (error != 0) return failure_of_transfer(error);
  state->text.resize(state->size);
  return std::move(state->text);
}

void read_all_operation::wait_failed() noexcept {
  done = data ? state_of(*this).size : 0;
  pointing_operation::wait_failed();
}

void read_all_operation::resumed() noexcept { delete static_cast<whole_read*>(std::exchange(data, nullptr)); }

bool append_all_operation::point() noexcept {
  if (data) return true;
  data = new (std::nothrow) whole_read(*text, size);
  if (!data) fail(ENOMEM);
  return data != nullptr;
}

result<std::size_t> append_all_operation::take() noexcept {
  resumed();
  if (error != 0) return failure_of_transfer(error);
  return text->size() - before;
}

void append_all_operation::resumed() noexcept {
  const std::unique_ptr<whole_read> state(static_cast<whole_read*>(std::exchange(data, nullptr)));
  if (state) text->resize(state->size);
}

}}}  // namespace hocket::detail
