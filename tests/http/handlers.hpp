// The handlers of the server that foreign clients test. All clients know the same bytes: byte i of the pattern is
// i % 251.
#pragma once
#include <hocket/http.hpp>
#include <atomic>
#include <map>
#include <mutex>
#include <string>

namespace http_peers {

// The items of the REST routes, shared by all workers.
struct item_store {
  std::mutex mutex;
  std::map<int, std::string> items{{1, "first"}};
  int last = 1;
};

// The routes without files:
//   GET /                        a page: its script asks for other routes, and shows the results
//   GET /plain, /task, /fiber    a line, by each kind of handler
//   /items, /items/{id}          a REST service
//   GET /megabyte                1 MB of the pattern
//   GET /pattern?bytes=N         N bytes of the pattern, in chunks
//   GET /lines?count=N           N lines, in chunks
//   GET /broken/{stream,text}    a body that fails after a line, in chunks and with a declared length
//   GET /broken/short            a body that ends before its declared length
//   GET /events?count=N          N events; without a count one event each 10 ms, until the drain
//   POST /upload                 reads its body in pieces; {"bytes": N, "crc": C}, CRC-32 as zlib has it
//   POST /unread                 403; the body is not read
//   POST /echo, /short           the body, of at most 1 MB and 1,000 B
//   GET /client                  the client: address, scheme, host
//   GET /upgrade                 an echo behind `Upgrade: echo`
//   GET /metrics                 text for Prometheus
void add_routes(hocket::http::router& routes, item_store& store);

}  // namespace http_peers
