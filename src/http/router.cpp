#include <hocket/base/fatal.hpp>
#include <hocket/http/router.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace http {

detail::group_node& router_group::node() const noexcept {
  hocket::detail::expects(node_ != nullptr, "a router was used that was moved", "add all routes before http::serve()");
  return *node_;
}

router_group router_group::group(std::string_view prefix) {
  detail::group_node& outer = node();
  return {*table_, table_->add_group(outer, prefix)};
}

void router_group::insert(http::method method, std::string_view path, const detail::route_settings& settings,
                          std::unique_ptr<detail::handler> handler) {
  detail::group_node& group = node();
  table_->add(group, method, path, settings, std::move(handler));
}

router::router() : router(std::make_unique<detail::route_table>()) {}

router::router(std::unique_ptr<detail::route_table> table) noexcept
    : router_group(*table, table->root()), owned_(std::move(table)) {}

router::router(router&& other) noexcept : router_group(other), owned_(std::move(other.owned_)) { other.forget(); }

router& router::operator=(router&& other) noexcept {
  if (this == &other) return *this;
  router_group::operator=(other);
  owned_ = std::move(other.owned_);
  other.forget();
  return *this;
}

router::~router() = default;

void router::set_table(std::unique_ptr<detail::error_table> table) {
  static_cast<void>(node());
  owned_->set_error_table(std::move(table));
}

namespace detail {

std::unique_ptr<const route_table> router_access::freeze(router&& routes) {
  static_cast<void>(routes.node());
  routes.owned_->freeze();
  routes.forget();
  return std::move(routes.owned_);
}

}  // namespace detail

}}}  // namespace hocket::http
