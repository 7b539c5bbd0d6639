// libcurl, with the threaded resolver and OpenSSL.
#include "clients.hpp"

#include <curl/curl.h>
#include <memory>

using namespace client_tests;

namespace {

using handle = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;

std::size_t append(char* data, std::size_t size, std::size_t count, void* text) {
  static_cast<std::string*>(text)->append(data, size * count);
  return size * count;
}

// The server's answer, or the error.
std::string get(const server& web, const std::string& path, const char* trusted) {
  const handle own{curl_easy_init(), &curl_easy_cleanup};
  std::string body;
  const std::string url = "https://localhost:" + std::string(web.text()) + path;
  curl_easy_setopt(own.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(own.get(), CURLOPT_CAINFO, trusted);
  curl_easy_setopt(own.get(), CURLOPT_WRITEFUNCTION, &append);
  curl_easy_setopt(own.get(), CURLOPT_WRITEDATA, &body);
  curl_easy_setopt(own.get(), CURLOPT_NOSIGNAL, 1L);
  const CURLcode status = curl_easy_perform(own.get());
  return status == CURLE_OK ? body : std::string("error: ") + curl_easy_strerror(status);
}

}  // namespace

TEST_CASE("libcurl: 200 requests at once give what one on a thread gives") {
  const server web("HOCKET_HTTPS"), trusted("HOCKET_HTTPS_CA");
  if (!web || !trusted) return;
  REQUIRE(curl_global_init(CURL_GLOBAL_ALL) == CURLE_OK);
  expect_equal_output(200,
                      [&] { return get(web, "/wait?20", trusted.text()) + get(web, "/bytes?100000", trusted.text()); });
}

// OpenSSL's error queue is per thread.
TEST_CASE("libcurl: handshakes that fail spoil none beside them") {
  const server web("HOCKET_HTTPS"), trusted("HOCKET_HTTPS_CA");
  if (!web || !trusted) return;
  int failed = 0, served = 0;
  loop lp;
  for (int i = 0; i < 60; ++i)
    spawn(lp, {.stack_size = 64 * 1024}, hook::hooked([&, i] {
            const std::string answer =
                get(web, "/wait?5", i % 2 == 0 ? trusted.text() : "/etc/ssl/certs/ca-certificates.crt");
            (i % 2 == 0 ? served : failed) += i % 2 == 0 ? answer == "hello\n" : answer.starts_with("error: SSL");
          }));
  lp.run();
  CHECK(served == 30);
  CHECK(failed == 30);
}

TEST_CASE("libcurl: a cancel, a deadline and a kill at each call of a request") {
  const server web("HOCKET_HTTPS"), trusted("HOCKET_HTTPS_CA");
  if (!web || !trusted) return;
  const auto session = [&] { return get(web, "/wait?2", trusted.text()) == "hello\n"; };
  end_everywhere(session, 10);
}
