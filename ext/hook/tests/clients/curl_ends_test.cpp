// libcurl beside a scripted server: curl_easy_perform() ends in each state, and a later one has a new connection.
#include "scripted.hpp"

#include <curl/curl.h>
#include <memory>

using namespace client_tests;

namespace {

std::size_t append(char* data, std::size_t size, std::size_t count, void* text) {
  static_cast<std::string*>(text)->append(data, size * count);
  return size * count;
}

// The handle keeps its connection for the next request, if the last one succeeded.
class curl_client {
 public:
  static constexpr const char* answer_after_end = "bob";

  explicit curl_client(const local_listener& at)
      : url_("http://127.0.0.1:" + std::to_string(at.port()) + "/"), handle_(curl_easy_init(), &curl_easy_cleanup) {}
  bool is_usable() const { return last_ == CURLE_OK; }
  std::string ask(const std::string& name, std::size_t padding) {
    std::string body;
    const std::string sent = name + std::string(padding, 'x');
    // Without this header it waits for "100 Continue" before it sends much.
    const std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers{curl_slist_append(nullptr, "Expect:"),
                                                                              &curl_slist_free_all};
    curl_easy_setopt(handle_.get(), CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(handle_.get(), CURLOPT_URL, url_.c_str());
    curl_easy_setopt(handle_.get(), CURLOPT_POSTFIELDS, sent.c_str());
    curl_easy_setopt(handle_.get(), CURLOPT_WRITEFUNCTION, &append);
    curl_easy_setopt(handle_.get(), CURLOPT_WRITEDATA, &body);
    curl_easy_setopt(handle_.get(), CURLOPT_NOSIGNAL, 1L);
    last_ = curl_easy_perform(handle_.get());
    return last_ == CURLE_OK ? body : "error";
  }

  static void greet(peer&) {}
  static void read_request(peer& client) { client.read_some(); }
  static void answer(peer& client, const std::string& value) {
    client.write("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(value.size()) + "\r\n\r\n" + value);
  }

 private:
  const std::string url_;
  std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> handle_;
  CURLcode last_ = CURLE_OK;
};

}  // namespace

TEST_CASE("libcurl that was ended while it connects, sends or reads fails, and takes a new connection") {
  REQUIRE(curl_global_init(CURL_GLOBAL_ALL) == CURLE_OK);
  end_in_each_state<curl_client>();
}
