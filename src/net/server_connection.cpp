// A connection of a server, from its accept to its end.
#include <hocket/core/thread/seam/timer.hpp>
#include <hocket/net/serve.hpp>

#include "net/lingerer.hpp"

#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

server_core::connection::connection(server_core& owner, std::size_t acceptor, tcp::stream stream,
                                    connection_permits permits, const socket_address& address) try
    : acceptor_(static_cast<std::uint32_t>(acceptor)), owner_(&owner), peer(std::move(stream)) {
  if (owner.options_.on_error) address_ = std::make_unique<socket_address>(address);
  descriptor_access::record_of(peer).belongs_to(owner.lingerer_->number());
  owner.count_.begin(std::move(permits));
} catch (...) {
  increment(owner.refused_);
}

server_core::connection::connection(connection&& other) noexcept
    : state_(other.state_),
      acceptor_(other.acceptor_),
      owner_(std::exchange(other.owner_, nullptr)),
      address_(std::move(other.address_)),
      peer(std::move(other.peer)) {}

server_core::connection::~connection() {
  if (!owner_) return;
  leave_list();
  peer.close();
  if (state_ == state::unbegun) increment(owner_->refused_);
  else if (state_ == state::running) increment(owner_->cancelled_);
  owner_->count_.end();
}

void server_core::connection::enlist() noexcept {
  is_listed_ = true;
  owner_->lists_[acceptor_].add(*this, descriptor_access::record_of(peer), time_here());
}

void server_core::connection::leave_list() noexcept {
  if (std::exchange(is_listed_, false)) owner_->lists_[acceptor_].remove(*this);
}

void server_core::connection::list_phase(phased_connection& begun) noexcept {
  owner_->lists_[acceptor_].add_phase(begun);
}
void server_core::connection::unlist_phase(phased_connection& ended) noexcept {
  owner_->lists_[acceptor_].remove_phase(ended);
}

void server_core::connection::begin() noexcept {
  state_ = state::running;
  increment(owner_->accepted_);
}

void server_core::connection::returned(std::error_code error) noexcept {
  if (error) return fail(error, nullptr);
  state_ = state::ended;
  increment(owner_->completed_);
}

void server_core::connection::threw() {
  try {
    throw;
  } catch (const forced_unwind&) {
    throw;
  } catch (const cancelled&) {
  } catch (const std::system_error& error) {
    fail(error.code(), std::current_exception());
  } catch (const std::bad_alloc&) {
    fail(std::make_error_code(std::errc::not_enough_memory), std::current_exception());
  } catch (...) {
    fail(std::make_error_code(std::errc::state_not_recoverable), std::current_exception());
  }
}

void server_core::connection::could_not_begin() noexcept {
  if (address_) owner_->report(*address_, std::make_error_code(std::errc::not_enough_memory), std::current_exception());
}

// One that ends by cancellation is counted by the destructor.
void server_core::connection::fail(std::error_code error, const std::exception_ptr& thrown) noexcept {
  if (error == std::errc::operation_canceled) return;
  state_ = state::ended;
  increment(owner_->failed_);
  if (address_) owner_->report(*address_, error, thrown);
}

}}}  // namespace hocket::detail
