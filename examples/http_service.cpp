// A REST service: notes in memory, with a key for changes, metrics and an orderly end (docs/http.md).
//
//   example_http_service 127.0.0.1:8080 &
//   curl -i http://127.0.0.1:8080/notes/1
//   curl -i -H 'X-Key: open' -d 'Buy milk' http://127.0.0.1:8080/notes
#include <hocket/http.hpp>
#include <hocket/net.hpp>
#include <hocket/stackless.hpp>
#include <array>
#include <csignal>
#include <cstdio>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

using namespace hocket;
using namespace std::chrono_literals;

// All workers share the notes. The handlers are plain functions, which run without a coroutine and do not wait: each
// holds the lock for a moment.
struct note_store {
  std::mutex mutex;
  std::map<int, std::string> notes{{1, "Tune the \"lute\""}};
  int last = 1;
};

std::string quoted(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    std::array<char, 8> escape{};
    if (c == '"' || c == '\\') json += '\\', json += c;
    else if (static_cast<unsigned char>(c) >= 0x20) json += c;
    else std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(c)), json += escape.data();
  }
  return json += '"';
}

std::string to_json(int id, std::string_view text) {
  return "{\"id\":" + std::to_string(id) + ",\"text\":" + quoted(text) + "}";
}

result<http::response> get_note(http::request& rq, note_store& store) {
  const result<int> id = rq.path<int>("id");
  if (!id) return failure(id.error());  // no number: 400
  const std::lock_guard guard(store.mutex);
  const auto found = store.notes.find(*id);
  if (found == store.notes.end()) return failure(http::errc::not_found);
  return http::json(to_json(*id, found->second));
}

// At most `limit` notes, from the query.
result<http::response> list_notes(http::request& rq, note_store& store) {
  const result<unsigned> limit = rq.query<unsigned>("limit", 100);
  if (!limit) return failure(limit.error());
  const std::lock_guard guard(store.mutex);
  std::string all = "[";
  unsigned count = 0;
  for (const auto& [id, text] : store.notes) {
    if (count == *limit) break;
    all.append(count++ == 0 ? "" : ",").append(to_json(id, text));
  }
  return http::json(all + "]");
}

result<http::response> add_note(http::request& rq, note_store& store) {
  if (rq.body().empty()) return failure(http::errc::unprocessable_content);
  const std::lock_guard guard(store.mutex);
  const int id = ++store.last;
  store.notes.emplace(id, rq.body());
  return http::json(to_json(id, rq.body()))
      .set_status(http::status::created)
      .set("Location", "/notes/" + std::to_string(id));
}

result<http::response> delete_note(http::request& rq, note_store& store) {
  const result<int> id = rq.path<int>("id");
  if (!id) return failure(id.error());
  const std::lock_guard guard(store.mutex);
  if (store.notes.erase(*id) == 0) return failure(http::errc::not_found);
  return http::empty();
}

// A step before the handlers of a group: a response ends the chain.
std::optional<http::response> check_key(http::request& rq) {
  if (rq.header("X-Key") == "open") return std::nullopt;
  return http::text("a key is needed\n").set_status(http::status::unauthorized).set("WWW-Authenticate", "Key");
}

void log_access(const http::access_record& record) noexcept { std::puts(http::access_line(record).c_str()); }

int main(int argc, char** argv) {
  signal_set ends{SIGTERM, SIGINT};
  runtime rt;
  note_store store;

  http::router routes;
  routes.get("/notes", list_notes, std::ref(store));
  routes.get("/notes/{id}", get_note, std::ref(store));
  auto changes = routes.group("");
  changes.before(check_key);
  changes.post("/notes", {.max_body = 4096}, add_note, std::ref(store));
  changes.delete_("/notes/{id}", delete_note, std::ref(store));
  routes.get("/metrics", http::metrics);

  const char* const address = argc > 1 ? argv[1] : "127.0.0.1:8080";
  auto server = http::serve(rt, address, {.name = "notes", .access_log = log_access}, std::move(routes));
  if (!server) return std::fprintf(stderr, "%s: %s\n", address, server.error().message().c_str()), 1;
  service all(rt);
  all.add(*server, "notes");
  const service_report report = all.run_until(ends, {.drain = 10s});
  std::fputs(report.to_string().c_str(), stderr);
  return report.exit_code();
}
