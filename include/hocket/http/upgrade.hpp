// upgrade: answers a request by a change of the connection's protocol (RFC 9110, section 7.8).
#pragma once
#include <hocket/http/response.hpp>
#include <hocket/http/upgraded_stream.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace http {

namespace detail {

response with_upgrade(std::string_view protocol, std::unique_ptr<upgrade_function> function);

template <class F, class... Args>
class stored_upgrade final : public upgrade_function {
 public:
  template <class... Given>
  explicit stored_upgrade(Given&&... given) : call_(std::forward<Given>(given)...) {}

  task<result<void>> run(upgraded_stream&& connection) override {
    using returned = std::invoke_result_t<F&, upgraded_stream, Args&...>;
    static_assert(std::is_same_v<returned, task<result<void>>>,
                  "hocket: the function of an upgrade returns hocket::task<result<void>>");
    return std::apply([&](F& f, Args&... args) -> returned { return f(std::move(connection), args...); }, call_);
  }

 private:
  std::tuple<F, Args...> call_;
};

}  // namespace detail

// An answer 101 with `Upgrade: protocol`. After it `run(upgraded_stream, args...)` owns the connection: a function that
// returns task<result<void>>. It lives with its arguments until its task has ended. If the request did not ask for an
// upgrade, the server answers 426 instead. Errors: those of response::set() for the protocol.
template <class F, class... Args>
response upgrade(std::string_view protocol, F&& run, Args&&... args) {
  static_assert(std::is_invocable_v<std::decay_t<F>&, upgraded_stream, std::decay_t<Args>&...>,
                "hocket: the function of an upgrade takes http::upgraded_stream by value and then its arguments");
  using stored = detail::stored_upgrade<std::decay_t<F>, std::decay_t<Args>...>;
  return detail::with_upgrade(protocol, std::make_unique<stored>(std::forward<F>(run), std::forward<Args>(args)...));
}

}}}  // namespace hocket::http
