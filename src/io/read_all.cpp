#include <hocket/io/read_all.hpp>

#include <algorithm>
#include <cerrno>
#include <memory>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

constexpr std::size_t first_room = 4096;

whole_read& whole_read_of(const transfer& what) noexcept { return *static_cast<whole_read*>(what.data); }

}  // namespace

// One byte beyond the limit tells that there is more.
int whole_read::make_room() noexcept {
  if (room() != 0) return 0;
  if (size > limit) return EMSGSIZE;
  const std::size_t most = std::max(limit, limit + 1);
  try {
    text.resize(std::min(most, std::max(first_room, 2 * size)));
  } catch (...) {  // bad_alloc, or length_error
    return ENOMEM;
  }
  return 0;
}

call_end continue_read_all(backend& by, open_descriptor& at, transfer& what) noexcept {
  whole_read& all = whole_read_of(what);
  if (const int error = all.make_room()) {
    what.fail(error);
    return call_end::done;
  }
  transfer part(*what.side, call_kind::read, all.text.data() + all.size, all.room());
  const call_end how = by.carry_out(at, part);
  if (part.ended == 0) return how;
  if (part.error != 0) {
    what.fail(part.error);
  } else if (part.done == 0) {
    what.ended = true;
  } else {
    all.size += part.done;
    if (all.size > all.limit) return what.fail(EMSGSIZE), call_end::done;
    return how == call_end::drained ? call_end::blocks : call_end::more;
  }
  return how;
}

bool read_all_operation::point() noexcept {
  if (data) return true;
  data = new (std::nothrow) whole_read(size);
  if (!data) fail(ENOMEM);
  return data != nullptr;
}

result<std::string> read_all_operation::take() noexcept {
  if (error != 0) wait_failed();
  const std::unique_ptr<whole_read> all(static_cast<whole_read*>(std::exchange(data, nullptr)));
  if (error != 0) return failure_of_transfer(error);
  all->text.resize(all->size);
  return std::move(all->text);
}

void read_all_operation::wait_failed() noexcept {
  done = data ? whole_read_of(*this).size : 0;
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
  const std::unique_ptr<whole_read> all(static_cast<whole_read*>(std::exchange(data, nullptr)));
  if (all) text->resize(all->size);
}

}}}  // namespace hocket::detail
