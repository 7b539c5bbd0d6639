// upgrade: answers a request by a change of the connection's protocol (RFC 9110, section 7.8).
#pragma once
#include <hocket/http/response.hpp>
#include <hocket/http/upgraded_stream.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace http {

namespace detail {

response with_upgrade(std::string_view protocol, std::unique_ptr<upgrade_function> function);

template <class Function, bool leaves_temporaries>
class stored_upgrade final : public upgrade_function {
 public:
  template <class... Stored>
  explicit stored_upgrade(Stored&&... stored) : function_(std::in_place, std::forward<Stored>(stored)...) {}

  task<result<void>> run(upgraded_stream&& connection) override {
    return function_.template start_with<leaves_temporaries>(std::move(connection));
  }

 private:
  Function function_;
};

}  // namespace detail

// An answer 101 with `Upgrade: protocol`. After it `run(upgraded_stream, args...)` owns the connection: a function that
// returns task<result<void>>. It lives with its arguments until its task has ended. If the request did not ask for an
// upgrade, the server answers 426 instead. Errors: those of response::set() for the protocol.
template <class F, class... Args>
response upgrade(std::string_view protocol, F&& run, Args&&... args) {
  using parameters = detail::given_first<upgraded_stream>;
  constexpr bool is_callable = requires(std::decay_t<F>& f, upgraded_stream peer, std::decay_t<Args>&... stored) {
    { f(std::move(peer), stored...) } -> std::same_as<task<result<void>>>;
  };
  static_assert(is_callable,
                "hocket: the function of an upgrade is called with http::upgraded_stream by value first, and then with "
                "its arguments, which are stored by value, and returns hocket::task<hocket::result<void>>");
  if constexpr (is_callable) {
    using call = detail::stored_function_for<parameters, F, Args...>;
    using stored = detail::stored_upgrade<typename call::type, call::leaves_temporaries>;
    return detail::with_upgrade(protocol, std::make_unique<stored>(std::forward<F>(run), std::forward<Args>(args)...));
  } else {
    return response();
  }
}

}}}  // namespace hocket::http
