#include <hocket/base/seam/forks.hpp>
#include <hocket/io/seam/open_descriptor.hpp>
#include <hocket/io/seam/transfer_operation.hpp>

#include <cerrno>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

using primitive::locked;
using primitive::suspension;
using primitive::waiter;

namespace {

// The source of the waits of all descriptors.
class drain_source final : public primitive::wait_source {
 public:
  const char* what() const noexcept override { return "the drain of a server"; }
  [[nodiscard]] bool detach(waiter& entry) noexcept override {
    open_descriptor& record = *static_cast<drain_wait*>(entry.resource)->record;
    locked guard(record.mutex());
    return record.drains.take_out(entry);
  }
  void pass_on(waiter&) noexcept override {}
};

constinit drain_source drains_of_all;

enum class drain_listing : std::uint8_t { listed, drains, closed };

drain_listing list_drain_wait(open_descriptor& record, waiter& entry, std::uint32_t generation) noexcept {
  locked guard(record.mutex());
  if (record.is_closed() || record.generation() != generation) return drain_listing::closed;
  if (record.is_draining()) return drain_listing::drains;
  record.drains.push_back(entry);
  return drain_listing::listed;
}

}  // namespace

drain_operation::drain_operation(open_descriptor& awaited) noexcept : drain_wait{&awaited, awaited.generation()} {}

// Without a use this look could take the drain of the next descriptor in this place for the drain of its own.
bool drain_operation::try_now() noexcept {
  bool is_late = true, drains = false;
  if (record->try_use()) {
    is_late = record->is_closed() || record->generation() != generation;
    drains = record->is_draining();
    record->drop();
  }
  if (is_late) error = EBADF;
  return is_late || drains;
}

void drain_operation::begin(suspension& wait, waiter& entry) noexcept {
  open_descriptor& at = *record;
  entry.resource = static_cast<drain_wait*>(this);
  entry.enlist(wait, drains_of_all);
  forks = forks_so_far();
  drain_listing outcome = drain_listing::closed;
  if (at.try_use()) {
    outcome = list_drain_wait(at, entry, generation);
    at.drop();
  }
  if (outcome != drain_listing::listed) end(entry, outcome == drain_listing::drains ? 0 : EBADF);
}

result<void> drain_operation::take() noexcept {
  if (error != 0) return failure_of_transfer(static_cast<int>(error));
  return {};
}

}}}  // namespace hocket::detail
