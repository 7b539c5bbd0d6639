#include <hocket/coro/or_return.hpp>
#include <hocket/http/event_stream.hpp>

#include <chrono>

namespace hocket { inline namespace HOCKET_ABI { namespace http {

namespace detail {

namespace {

constexpr std::string_view line_ends = "\r\n";

// The text before the next line end, which is removed, too. CR LF is one line end.
std::string_view take_line(std::string_view& rest, bool& is_last) noexcept {
  const std::size_t end = rest.find_first_of(line_ends);
  const std::string_view line = rest.substr(0, end);
  is_last = end == rest.npos;
  if (is_last) return line;
  const std::size_t size = rest.substr(end, 2) == line_ends ? 2 : 1;
  rest.remove_prefix(end + size);
  return line;
}

// A line for each line of the text.
void append_lines(std::string& to, std::string_view field, std::string_view text) {
  for (bool is_last = false; !is_last;) to.append(field).append(take_line(text, is_last)).append("\n");
}

bool is_one_line(std::string_view text) noexcept { return text.find_first_of(line_ends) == text.npos; }

}  // namespace

std::optional<std::string> serialize_event(const server_event& event) {
  if (!is_one_line(event.event) || !is_one_line(event.id) || event.id.find('\0') != event.id.npos) return {};
  std::string text;
  if (!event.comment.empty()) append_lines(text, ": ", event.comment);
  if (!event.event.empty()) text.append("event: ").append(event.event).append("\n");
  if (!event.id.empty()) text.append("id: ").append(event.id).append("\n");
  if (event.retry > duration::zero()) {
    const auto pause = std::chrono::ceil<std::chrono::milliseconds>(event.retry);
    text.append("retry: ").append(std::to_string(pause.count())).append("\n");
  }
  if (!event.data.empty() || text.empty() || !event.event.empty()) append_lines(text, "data: ", event.data);
  return text += '\n';
}

void complete_event_stream(response& answer) {
  answer.set("Cache-Control", "no-store").set("X-Accel-Buffering", "no");
  response_access::body(answer).function().ends_when_half_closed = true;
}

static task<result<void>> send_text(body_writer& out, std::optional<std::string> text) {
  if (!text) co_return failure(std::make_error_code(std::errc::invalid_argument));
  co_await or_return(out.write_all(*text));
  co_return {};
}

}  // namespace detail

task<result<void>> event_writer::send(const server_event& event) {
  return detail::send_text(out_, detail::serialize_event(event));
}

}}}  // namespace hocket::http
