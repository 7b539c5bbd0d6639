#include "handlers.hpp"

#include "page.hpp"

#include <hocket/fiber/spawn.hpp>
#include <hocket/hocket.hpp>
#include <algorithm>
#include <array>
#include <string_view>

namespace http_peers {

using namespace hocket;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t pattern_period = 251;

// A multiple of the period, so that any number of copies continues the pattern.
std::string_view pattern_block() {
  static const std::string block = [] {
    std::string bytes(pattern_period * 64, '\0');
    for (std::size_t i = 0; i != bytes.size(); ++i) bytes[i] = static_cast<char>(i % pattern_period);
    return bytes;
  }();
  return block;
}

std::string_view megabyte() {
  static const std::string bytes = [] {
    std::string whole;
    while (whole.size() < std::size_t{1} << 20) whole += pattern_block();
    whole.resize(std::size_t{1} << 20);
    return whole;
  }();
  return bytes;
}

// CRC-32 of ISO 3309 (zlib, Ethernet): polynomial 0xedb88320, reflected.
class crc32 {
 public:
  void add(std::string_view bytes) noexcept {
    for (const char c : bytes) state_ = table[(state_ ^ static_cast<unsigned char>(c)) & 0xff] ^ (state_ >> 8);
  }
  std::uint32_t value() const noexcept { return ~state_; }

 private:
  static constexpr std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> entries{};
    for (std::uint32_t i = 0; i != 256; ++i) {
      std::uint32_t entry = i;
      for (int bit = 0; bit != 8; ++bit) entry = (entry & 1) != 0 ? 0xedb88320 ^ (entry >> 1) : entry >> 1;
      entries[i] = entry;
    }
    return entries;
  }();
  std::uint32_t state_ = 0xffffffff;
};

http::response show_page(http::request&) { return http::html(page); }
http::response answer_plain(http::request&) { return http::text(std::string_view("plain\n")); }

// The two handlers suspend, which is all that their sleep is for.
task<result<http::response>> answer_by_task(http::request&) {
  co_await or_return(sleep_for(1ms));
  co_return http::text(std::string_view("task\n"));
}

result<http::response> answer_in_fiber(http::request&) {
  if (const auto slept = await(sleep_for(1ms)); !slept) return failure(slept.error());
  return http::text(std::string_view("fiber\n"));
}

std::string to_json(int id, std::string_view text) {
  return "{\"id\":" + std::to_string(id) + ",\"text\":\"" + std::string(text) + "\"}";
}

result<http::response> get_item(http::request& rq, item_store& store) {
  const result<int> id = rq.path<int>("id");
  if (!id) return failure(id.error());
  const std::lock_guard guard(store.mutex);
  const auto found = store.items.find(*id);
  if (found == store.items.end()) return failure(http::errc::not_found);
  return http::json(to_json(*id, found->second));
}

http::response add_item(http::request& rq, item_store& store) {
  const std::lock_guard guard(store.mutex);
  const int id = ++store.last;
  store.items.emplace(id, rq.body());
  return http::json(to_json(id, rq.body()))
      .set_status(http::status::created)
      .set("Location", "/items/" + std::to_string(id));
}

result<http::response> delete_item(http::request& rq, item_store& store) {
  const result<int> id = rq.path<int>("id");
  if (!id) return failure(id.error());
  const std::lock_guard guard(store.mutex);
  if (store.items.erase(*id) == 0) return failure(http::errc::not_found);
  return http::empty();
}

http::response send_megabyte(http::request&) { return http::content("application/octet-stream", megabyte()); }

task<result<void>> write_pattern(http::body_writer& out, std::uint64_t count) {
  const std::string_view block = pattern_block();
  while (count != 0) {
    const std::size_t n = static_cast<std::size_t>(std::min<std::uint64_t>(count, block.size()));
    co_await or_return(out.write_all(block.substr(0, n)));
    count -= n;
  }
  co_return {};
}

result<http::response> send_pattern(http::request& rq) {
  const result<std::uint64_t> count = rq.query<std::uint64_t>("bytes");
  if (!count) return failure(count.error());
  return http::stream_body("application/octet-stream", write_pattern, *count);
}

task<result<void>> write_lines(http::body_writer& out, int count) {
  for (int i = 0; i != count; ++i) {
    const std::string line = "line " + std::to_string(i) + "\n";
    co_await or_return(out.write_all(line));
  }
  co_return {};
}

result<http::response> send_lines(http::request& rq) {
  const result<int> count = rq.query<int>("count", 10);
  if (!count) return failure(count.error());
  return http::stream_body("text/plain", write_lines, *count);
}

task<result<void>> break_off(http::body_writer& out) {
  co_await or_return(out.write_all("a part of it\n"));
  co_return failure(hocket::errc::end_of_stream);
}

task<result<void>> end_early(http::body_writer& out) {
  co_await or_return(out.write_all("a part of it\n"));
  co_return {};
}

http::response break_stream(http::request&) { return http::stream_body("text/plain", break_off); }
http::response break_text(http::request&) { return http::stream_body("text/plain", 1000, break_off); }
http::response send_too_little(http::request&) { return http::stream_body("text/plain", 1000, end_early); }

// -1: without an end.
task<result<void>> write_events(http::event_writer& out, int count) {
  for (int i = 0; i != count; ++i) {
    const std::string number = std::to_string(i);
    co_await or_return(out.send({.event = "count", .data = number, .id = number}));
    if (co_await within(10ms, out.drain_requested())) co_return {};
  }
  co_return co_await out.send({.event = "end", .data = "no more events"});
}

result<http::response> send_events(http::request& rq) {
  const result<int> count = rq.query<int>("count", -1);
  if (!count) return failure(count.error());
  return http::event_stream(write_events, *count);
}

task<result<http::response>> read_upload(http::request& rq) {
  std::array<char, 16 * 1024> buffer;
  crc32 sum;
  std::uint64_t bytes = 0;
  while (const std::size_t n = co_await or_return(rq.stream().read_some(buffer))) {
    sum.add({buffer.data(), n});
    bytes += n;
  }
  co_return http::json("{\"bytes\":" + std::to_string(bytes) + ",\"crc\":" + std::to_string(sum.value()) + "}");
}

http::response refuse_upload(http::request&) { return http::empty(http::status::forbidden); }

http::response echo_body(http::request& rq) { return http::content("application/octet-stream", rq.body()); }

http::response show_client(http::request& rq) {
  return http::json("{\"client\":\"" + rq.client().to_string() + "\",\"scheme\":\"" + std::string(rq.scheme()) +
                    "\",\"host\":\"" + std::string(rq.host()) + "\"}");
}

task<result<void>> echo_upgraded(http::upgraded_stream peer) {
  std::array<char, 4096> buffer;
  while (const std::size_t n = co_await or_return(peer.read_some(buffer)))
    co_await or_return(peer.write_all(std::string_view(buffer.data(), n)));
  co_return {};
}

http::response open_echo(http::request&) { return http::upgrade("echo", echo_upgraded); }

}  // namespace

void add_routes(http::router& routes, item_store& store) {
  routes.get("/", show_page);
  routes.get("/plain", answer_plain);
  routes.get("/task", answer_by_task);
  routes.get("/fiber", {.run = http::in_fiber}, answer_in_fiber);
  routes.post("/items", add_item, std::ref(store));
  routes.get("/items/{id}", get_item, std::ref(store));
  routes.delete_("/items/{id}", delete_item, std::ref(store));
  routes.get("/megabyte", send_megabyte);
  routes.get("/pattern", send_pattern);
  routes.get("/lines", send_lines);
  routes.get("/broken/stream", break_stream);
  routes.get("/broken/text", break_text);
  routes.get("/broken/short", send_too_little);
  routes.get("/events", send_events);
  routes.post("/upload", {.body = http::streamed, .max_body = std::size_t{1} << 32}, read_upload);
  routes.put("/upload", {.body = http::streamed, .max_body = std::size_t{1} << 32}, read_upload);
  routes.post("/unread", {.body = http::streamed, .max_body = std::size_t{1} << 32}, refuse_upload);
  routes.post("/echo", echo_body);
  routes.post("/short", {.max_body = 1000}, echo_body);
  routes.get("/client", show_client);
  routes.get("/upgrade", open_echo);
  routes.get("/metrics", http::metrics);
}

}  // namespace http_peers
