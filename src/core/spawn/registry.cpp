#include <hocket/core/spawn/detail/registry.hpp>

#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

constinit registry_list live_registries;
static_assert(under_model || std::is_trivially_destructible_v<registry_list>);

registry::registry(const executor& home, const char* name, bool shared) noexcept
    : home_(home), name_(name), shared_(shared) {
  locked guard(live_registries.mutex);
  next_ = live_registries.first;
  if (next_) next_->previous_ = this;
  live_registries.first = this;
}

registry::~registry() {
  locked guard(live_registries.mutex);
  (previous_ ? previous_->next_ : live_registries.first) = next_;
  if (next_) next_->previous_ = previous_;
}

void registry::add_locked(scheduled& member) noexcept {
  locked guard(mutex_);
  members_.push_back(member);
}

void registry::remove_locked(scheduled& member) noexcept {
  locked guard(mutex_);
  list<scheduled>::erase(member);
}

}}}  // namespace hocket::detail
