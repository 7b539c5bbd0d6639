#include <hocket/base/random.hpp>
#include <hocket/http/body_writer.hpp>
#include <hocket/http/detail/conditions.hpp>
#include <hocket/http/detail/date.hpp>
#include <hocket/http/detail/file_sender.hpp>
#include <hocket/http/detail/ranges.hpp>

#include "http/disposition.hpp"
#include "http/file_answer.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <string>
#include <sys/uio.h>

namespace hocket { inline namespace HOCKET_ABI { namespace http::detail {

namespace {

// A file of at most this size is sent with its head, in one write, if it is cached.
constexpr std::uint64_t max_inline_size = 16 * 1024;

// Not std::time(), which is a few milliseconds late: a file that was changed just now would be from the future.
std::int64_t current_time() noexcept {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()).time_since_epoch().count();
}

void append_number(std::string& text, std::uint64_t number) {
  std::array<char, 20> digits;
  text.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
}

// "bytes 0-499/1000"
std::string content_range(const byte_range& range, std::uint64_t size) {
  std::string text = "bytes ";
  append_number(text, range.begin);
  text += '-';
  append_number(text, range.end - 1);
  text += '/';
  append_number(text, size);
  return text;
}

}  // namespace

// --- several ranges: multipart/byteranges (RFC 9110, 14.6)

struct multipart {
  unique_fd file;
  std::uint64_t file_size;
  range_set ranges;
  std::string content_type;
  std::string boundary;
  blocking_pool* pool;

  std::string part_head(std::size_t i) const {
    std::string head = i == 0 ? "--" : "\r\n--";
    head += boundary;
    if (!content_type.empty()) head.append("\r\nContent-Type: ").append(content_type);
    head.append("\r\nContent-Range: ").append(content_range(ranges[i], file_size)).append("\r\n\r\n");
    return head;
  }
  std::string tail() const { return "\r\n--" + boundary + "--\r\n"; }
  std::uint64_t body_size() const {
    std::uint64_t sum = tail().size();
    for (std::size_t i = 0; i < ranges.size(); ++i) sum += part_head(i).size() + ranges[i].size();
    return sum;
  }
};

namespace {

// 128 random bits: the file cannot have been made to contain them.
std::string make_boundary() {
  std::string text(32, '0');
  for (std::size_t half = 0; half < 2; ++half) {
    std::uint64_t bits = hocket::detail::random_seed();
    for (std::size_t i = 0; i < 16; ++i, bits >>= 4) text[16 * half + i] = "0123456789abcdef"[bits & 0xF];
  }
  return text;
}

task<result<void>> write_parts(body_writer& out, const multipart& parts) {
  for (std::size_t i = 0; i < parts.ranges.size(); ++i) {
    const std::string head = parts.part_head(i);
    co_await or_return(out.write(head));
    const byte_range& range = parts.ranges[i];
    auto sending = send_file_part(out, parts.file.native_handle(), range.begin, range.size(), parts.pool);
    co_await or_return(std::move(sending));
  }
  const std::string tail = parts.tail();
  co_await or_return(out.write_all(tail));
  co_return {};
}

response answer_with_parts(opened_file&& opened, const range_set& ranges, const file_fields& fields) {
  multipart parts{std::move(opened.fd), opened.size, ranges, std::string(fields.content_type),
                  make_boundary(),      fields.pool};
  const std::uint64_t size = parts.body_size();
  const std::string type = "multipart/byteranges; boundary=" + parts.boundary;
  return stream_body(type, size, &write_parts, std::move(parts)).set_status(status::partial_content);
}

// --- the whole file

// The content, if all of it is in the cache; else nothing.
bool read_cached(const opened_file& opened, std::string& content) {
  content.resize(static_cast<std::size_t>(opened.size));
  const iovec part{content.data(), content.size()};
  const ssize_t count = ::preadv2(opened.fd.native_handle(), &part, 1, 0, RWF_NOWAIT);
  return count >= 0 && static_cast<std::size_t>(count) == content.size();
}

response answer_with_whole(opened_file&& opened, const file_fields& fields, bool has_body) {
  std::string bytes;
  if (has_body && opened.size <= max_inline_size && read_cached(opened, bytes))
    return content(fields.content_type, std::move(bytes));
  return file_range(fields.content_type, std::move(opened.fd), 0, opened.size, fields.pool);
}

response answer_with_ranges(opened_file&& opened, const range_set& ranges, const file_fields& fields) {
  if (ranges.size() > 1) return answer_with_parts(std::move(opened), ranges, fields);
  const byte_range& range = ranges[0];
  const std::uint64_t size = opened.size;
  return file_range(fields.content_type, std::move(opened.fd), range.begin, range.size(), fields.pool)
      .set_status(status::partial_content)
      .set("Content-Range", content_range(range, size));
}

// The fields of the file stay away: a cache would store the error as the file for as long as Cache-Control says.
response answer_unsatisfiable(std::uint64_t size, const file_fields& fields) {
  std::string text = "bytes */";
  append_number(text, size);
  response answer = empty(status::range_not_satisfiable);
  answer.set("Content-Range", text);
  if (fields.varies) answer.set("Vary", "Accept-Encoding");
  return answer;
}

// --- fields

condition_fields read_conditions(const request& rq) {
  return {.if_match = rq.header("If-Match"),
          .if_none_match = rq.header("If-None-Match"),
          .if_modified_since = rq.header("If-Modified-Since"),
          .if_unmodified_since = rq.header("If-Unmodified-Since")};
}

void set_validators(response& answer, const file_fields& fields, const validators& current) {
  const date_text date = format_date(current.modified);
  answer.set("ETag", current.tag).set("Last-Modified", {date.data(), date.size()});
  if (!fields.cache_control.empty()) answer.set("Cache-Control", fields.cache_control);
  if (fields.varies) answer.set("Vary", "Accept-Encoding");
}

void set_content_fields(response& answer, const file_fields& fields) {
  answer.set("Accept-Ranges", "bytes").set("X-Content-Type-Options", "nosniff");
  if (!fields.encoding.empty()) answer.set("Content-Encoding", fields.encoding);
  if (!fields.download_name.empty()) answer.set("Content-Disposition", disposition_of(fields.download_name));
}

range_set read_ranges(const request& rq, std::uint64_t size, const validators& current, std::int64_t now) {
  const std::optional<std::string_view> range = rq.method() == method::get ? rq.header("Range") : std::nullopt;
  if (!range || !if_range_holds(rq.header("If-Range"), current, now)) return {};
  return range_set::parse(*range, size);
}

}  // namespace

result<response> answer_with_file(request& rq, opened_file&& opened, const file_fields& fields) {
  const std::int64_t now = current_time();
  const entity_tag tag(opened.modified_ns, opened.size, fields.encoding);
  const validators current{tag.text(), opened.modified(now)};
  const bool is_read = rq.method() == method::get || rq.method() == method::head;
  switch (evaluate_conditions(read_conditions(rq), current, is_read, now)) {
    case condition_outcome::precondition_failed: return failure(errc::precondition_failed);
    case condition_outcome::not_modified: {
      response answer = empty(status::not_modified);
      set_validators(answer, fields, current);
      return answer;
    }
    case condition_outcome::proceed: break;
  }
  const range_set ranges = read_ranges(rq, opened.size, current, now);
  if (ranges.result() == range_set::outcome::unsatisfiable) return answer_unsatisfiable(opened.size, fields);
  response answer = ranges.size() != 0 ? answer_with_ranges(std::move(opened), ranges, fields)
                                       : answer_with_whole(std::move(opened), fields, rq.method() == method::get);
  set_validators(answer, fields, current);
  set_content_fields(answer, fields);
  return answer;
}

}}}  // namespace hocket::http::detail
