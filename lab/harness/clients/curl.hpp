#pragma once
// libcurl, blocking: a request over TLS. The answer is one line, equal for all, and is checked.
#include <curl/curl.h>

#include "clients.hpp"

namespace lab {

class client {
 public:
  explicit client(const client_workload&) : web_(curl_easy_init()) {
    if (!web_) fail("no handle of curl");
    curl_easy_setopt(web_, CURLOPT_CAINFO, place_of("HOCKET_HTTPS_CA"));
    curl_easy_setopt(web_, CURLOPT_WRITEFUNCTION, &append);
    curl_easy_setopt(web_, CURLOPT_WRITEDATA, &body_);
    curl_easy_setopt(web_, CURLOPT_NOSIGNAL, 1L);
  }
  client(const client&) = delete;
  client& operator=(const client&) = delete;
  ~client() { curl_easy_cleanup(web_); }

  static void begin() { curl_global_init(CURL_GLOBAL_ALL); }

  void ask(std::size_t) {
    body_.clear();
    const std::string url = "https://127.0.0.1:" + std::string(place_of("HOCKET_HTTPS")) + "/wait?100";
    curl_easy_setopt(web_, CURLOPT_URL, url.c_str());
    const CURLcode how = curl_easy_perform(web_);
    if (how != CURLE_OK) fail(curl_easy_strerror(how));
    if (body_ != "hello\n") fail("a wrong answer of the web server");
  }

 private:
  static std::size_t append(char* data, std::size_t size, std::size_t count, void* text) {
    static_cast<std::string*>(text)->append(data, size * count);
    return size * count;
  }

  CURL* const web_;
  std::string body_;
};

}  // namespace lab
