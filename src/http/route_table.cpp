#include <hocket/coro/timeout_task.hpp>
#include <hocket/http/detail/route_table.hpp>

#include <algorithm>
#include <stdexcept>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

namespace {

using outcome = path_tree::outcome;

class default_table final : public error_table {
 public:
  response make(const request&, std::error_code error) const override { return default_error_response(error); }
};

std::string describe(http::method method, std::string_view pattern) {
  const std::string_view name = to_string(method);
  return std::string(name.empty() ? "a route of method::other at" : name).append(" ").append(pattern);
}

template <class Steps>
bool all_are_plain(const Steps& steps) noexcept {
  return std::all_of(steps.begin(), steps.end(), [](const auto* each) { return each->is_plain(); });
}

}  // namespace

// --- building

void route::freeze() {
  before_.clear();
  after_.clear();
  for (const group_node* group = &group_; group; group = group->parent) {
    for (auto step = group->before.rbegin(); step != group->before.rend(); ++step) before_.push_back(step->get());
    for (auto step = group->after.rbegin(); step != group->after.rend(); ++step) after_.push_back(step->get());
  }
  std::reverse(before_.begin(), before_.end());
  has_plain_after_ = all_are_plain(after_);
  is_plain_ = handler_->is_plain() && has_plain_after_ && all_are_plain(before_);
}

route_table::route_table() : errors_(std::make_unique<default_table>()) {
  groups_.push_back(std::make_unique<group_node>(nullptr, std::string()));
}

route_table::~route_table() = default;

group_node& route_table::add_group(group_node& outer, std::string_view prefix) {
  if (!prefix.empty() && (prefix.front() != '/' || prefix.back() == '/'))
    throw std::invalid_argument("hocket: the prefix of a group begins with a slash and ends without one");
  groups_.push_back(std::make_unique<group_node>(&outer, outer.prefix + std::string(prefix)));
  return *groups_.back();
}

void route_table::add(group_node& group, http::method method, std::string_view path, const route_settings& settings,
                      std::unique_ptr<handler> function) {
  if (method == method::connect)
    throw std::invalid_argument("hocket: a request of CONNECT has no path, so no route can match it");
  std::string pattern = group.prefix + std::string(path);
  if (!path.empty() && path.front() != '/')
    throw std::invalid_argument("hocket: the path of " + describe(method, pattern) + " begins without a slash");
  const auto number = static_cast<std::uint32_t>(routes_.size());
  routes_.push_back(std::make_unique<route>(group, std::move(pattern), settings, std::move(function)));
  route& added = *routes_.back();
  const path_tree::insertion inserted = tree_.insert(method, added.pattern(), number);
  if (inserted != path_tree::insertion::done) {
    std::string text = "hocket: " + describe(method, added.pattern());
    routes_.pop_back();
    if (inserted == path_tree::insertion::malformed) throw std::invalid_argument(text + " has a malformed pattern");
    const std::uint32_t other = tree_.find_conflict(method, std::string_view(group.prefix + std::string(path)));
    throw std::invalid_argument(text + " matches the same requests as " + describe(method, routes_[other]->pattern()));
  }
  const std::size_t count = tree_.capture_count(number);
  for (std::size_t i = 0; i != count; ++i) added.parameters_.push_back(tree_.capture_name(number, i));
}

void route_table::freeze() {
  for (const auto& each : routes_) each->freeze();
  own_after_.clear();
  for (auto step = root().after.rbegin(); step != root().after.rend(); ++step) own_after_.push_back(step->get());
  has_plain_own_after_ = all_are_plain(own_after_);
}

// --- serving

const route* route_table::find(request& rq) const noexcept {
  path_tree::match& match = request_access::match(rq);
  const bool has_path = !rq.raw_path().empty();  // CONNECT has none
  const outcome found = has_path ? tree_.find(rq.method(), rq.raw_path(), match) : outcome::not_implemented;
  request_access::outcome(rq) = found;
  const route* const matched = found == outcome::found ? routes_[match.route].get() : nullptr;
  request_access::set_route(rq, matched, matched ? matched->parameters_ : std::span<const std::string_view>{});
  return matched;
}

bool route_table::is_plain(const request& rq) const noexcept {
  const route* const found = request_access::matched_route(rq);
  return found ? found->is_plain_ : has_plain_own_after_;
}

bool route_table::is_plain_refusal(const request& rq) const noexcept {
  const route* const found = request_access::matched_route(rq);
  return found ? found->has_plain_after_ : has_plain_own_after_;
}

std::span<const after_step* const> route_table::after_of(const request& rq) const noexcept {
  const route* const found = request_access::matched_route(rq);
  return found ? found->after_ : own_after_;
}

response route_table::response_of(const request& rq, std::error_code error) const noexcept {
  try {
    response answer = errors_->make(rq, error);
    response_access::set_error(answer, error);
    return answer;
  } catch (...) {
    response answer(status::internal_server_error);
    response_access::set_error(answer, error);
    return answer;
  }
}

response route_table::respond_without_route(const request& rq) const {
  const std::string allowed = request_access::match(rq).allowed.allow_text();
  switch (request_access::outcome(rq)) {
    case outcome::automatic_options: return empty().set("Allow", allowed);
    case outcome::method_not_allowed: {
      response answer = response_of(rq, errc::method_not_allowed);
      answer.set("Allow", allowed);
      return answer;
    }
    case outcome::not_implemented: return response_of(rq, errc::not_implemented);
    case outcome::not_found:
    case outcome::found: break;
  }
  return response_of(rq, errc::not_found);
}

response route_table::without_route(const request& rq) const noexcept {
  try {
    return respond_without_route(rq);
  } catch (...) {  // also the limit of an error table's fields
    return response_of(rq, std::make_error_code(std::errc::not_enough_memory));
  }
}

// A client waits for another response behind one below 200. So 101 alone is final, and only with the function of an
// upgrade.
static bool has_final_status(const response& answer) noexcept {
  const auto code = static_cast<unsigned>(answer.status());
  if (response_access::body(answer).type() == response_body::kind::upgrade) return code == 101;
  return code >= 200 && code <= 999;
}

void route_table::require_final(const request& rq, response& answer) const noexcept {
  if (has_final_status(answer)) [[likely]]
    return;
  const std::error_code error = std::make_error_code(std::errc::invalid_argument);
  answer = response_of(rq, error);
  if (has_final_status(answer)) return;
  answer = response(status::internal_server_error);
  response_access::set_error(answer, error);
}

// Calls the steps from `next` on as long as they are plain. Returns the error of a step, or sets the response of one.
std::error_code route_table::call_before(steps& next, request& rq, std::optional<response>& answer) {
  for (; !next.empty() && next.front()->is_plain(); next = next.subspan(1)) {
    result<std::optional<response>> early = next.front()->call(rq);
    if (!early) return early.error();
    if (*early) {
      answer = *std::move(early);
      return {};
    }
  }
  return {};
}

task<std::error_code> route_table::run_before(steps next, request& rq, std::optional<response>& answer) {
  while (!next.empty()) {
    task<result<std::optional<response>>> running = next.front()->start(rq);
    result<std::optional<response>> early = co_await std::move(running);
    if (!early) co_return early.error();
    answer = *std::move(early);
    if (answer) break;
    next = next.subspan(1);
    if (const std::error_code error = call_before(next, rq, answer); error || answer) co_return error;
  }
  co_return std::error_code{};
}

// All steps are plain.
response route_table::respond_now(request& rq) const {
  const route* const found = request_access::matched_route(rq);
  if (!found) return run_after_now(rq, without_route(rq));
  std::optional<response> early;
  std::error_code error;
  try {
    steps all = found->before_;
    error = call_before(all, rq, early);
    if (!error && !early) {
      result<response> answer = found->handler_->call(rq);
      if (answer) return run_after_now(rq, *std::move(answer));
      error = answer.error();
    }
  } catch (...) {
    error = error_of_exception();
  }
  return run_after_now(rq, error ? response_of(rq, error) : *std::move(early));
}

task<result<response>> route_table::start_handler(const route& found, request& rq) {
  if (found.settings_.within == duration::max()) return found.handler_->start(rq);
  return within(found.settings_.within, found.handler_->start(rq));
}

// One coroutine for the whole chain, if only the handler is a task.
task<response> route_table::respond(request& rq) const {
  const route* const found = request_access::matched_route(rq);
  std::optional<response> answer;
  std::error_code error;
  try {
    if (!found) {
      answer.emplace(without_route(rq));
    } else {
      steps next = found->before_;
      error = call_before(next, rq, answer);
      if (!error && !answer && !next.empty()) {
        task<std::error_code> running = run_before(next, rq, answer);
        error = co_await std::move(running);
      }
      if (!error && !answer) {
        result<response> handled = failure(errc::internal_server_error);
        if (found->handler_->is_plain()) {
          handled = found->handler_->call(rq);
        } else {
          task<result<response>> running = start_handler(*found, rq);
          handled = co_await std::move(running);
        }
        if (!handled) error = handled.error();
        else answer.emplace(*std::move(handled));
      }
    }
  } catch (...) {
    error = error_of_exception();
  }
  if (error) answer.emplace(response_of(rq, error));
  if (after_of(rq).empty()) {
    require_final(rq, *answer);
    co_return *std::move(answer);
  }
  task<response> ending = run_after(rq, *std::move(answer));
  co_return co_await std::move(ending);
}

response route_table::refuse_now(request& rq, std::error_code error) const {
  return run_after_now(rq, response_of(rq, error));
}

task<response> route_table::refuse(request& rq, std::error_code error) const {
  return run_after(rq, response_of(rq, error));
}

response route_table::run_after_now(request& rq, response answer) const {
  for (const after_step* step : after_of(rq)) {
    std::error_code error;
    try {
      if (const result<void> done = step->call(rq, answer); !done) error = done.error();
    } catch (...) {
      error = error_of_exception();
    }
    if (error) answer = response_of(rq, error);
  }
  require_final(rq, answer);
  return answer;
}

task<response> route_table::run_after(request& rq, response answer) const {
  for (const after_step* step : after_of(rq)) {
    std::error_code error;
    try {
      result<void> done;
      if (step->is_plain()) {
        done = step->call(rq, answer);
      } else {
        task<result<void>> running = step->start(rq, answer);
        done = co_await std::move(running);
      }
      if (!done) error = done.error();
    } catch (...) {
      error = error_of_exception();
    }
    if (error) answer = response_of(rq, error);
  }
  require_final(rq, answer);
  co_return answer;
}

}}}}  // namespace hocket::http::detail
