#include <hocket/fiber/coroutine.hpp>
#include <hocket/fiber/detail/packing.hpp>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

void any_coroutine::reset() noexcept {
  control_block& block = *std::exchange(block_, &vacant_block);
  fiber_record* record = std::exchange(record_, nullptr);
  if (!record) return;
  if (detail::is_packed(block)) detail::destroy_fiber(block);
  else detail::destroy_fiber(*record);
}

bool any_coroutine::pack(detail::packing_batch& batch) noexcept { return record_ && batch.add(*block_); }

coroutine_status any_coroutine::status() const noexcept {
  if (!*this) return coroutine_status::empty;
  if (done()) return coroutine_status::finished;
  if (block_->record)
    return block_->header.flags & header_flag::started ? coroutine_status::suspended : coroutine_status::unstarted;
  return block_->thread().running == block_ ? coroutine_status::running : coroutine_status::resuming;
}

void any_coroutine::set_user_data(void* data) noexcept {
  expects(record_ != nullptr, "user data was given to an empty coroutine", "make the coroutine first");
  fiber_record::from_block(*block_).user_data = data;
}

}}  // namespace hocket
