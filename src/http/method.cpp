#include <hocket/http/method.hpp>

#include <array>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI { namespace http {

namespace {
constexpr std::array<std::string_view, 10> method_names{"GET",     "HEAD",    "POST",  "PUT",   "DELETE",
                                                        "CONNECT", "OPTIONS", "TRACE", "PATCH", ""};
}  // namespace

std::string_view to_string(method value) noexcept {
  const auto index = static_cast<std::size_t>(value);
  return index < method_names.size() ? method_names[index] : std::string_view{};
}

namespace detail {

method find_method(std::string_view name) noexcept {
  const auto value_if = [&](method candidate) { return name == to_string(candidate) ? candidate : method::other; };
  if (name.size() < 3) return method::other;
  switch (name[0]) {
    case 'G': return value_if(method::get);
    case 'H': return value_if(method::head);
    case 'D': return value_if(method::delete_);
    case 'C': return value_if(method::connect);
    case 'O': return value_if(method::options);
    case 'T': return value_if(method::trace);
    case 'P': return value_if(name[1] == 'O' ? method::post : name[1] == 'U' ? method::put : method::patch);
    default: return method::other;
  }
}

}  // namespace detail

}}}  // namespace hocket::http
