// OpenSSL's own sockets: BIO_s_connect.
#include "clients.hpp"

#include <memory>
#include <openssl/err.h>
#include <openssl/ssl.h>

using namespace client_tests;

namespace {

using tls = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;

tls trusting(const char* file) {
  tls context{SSL_CTX_new(TLS_client_method()), &SSL_CTX_free};
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  if (file) CHECK(SSL_CTX_load_verify_locations(context.get(), file, nullptr) == 1);
  return context;
}

// The last line of the server's answer, or the first error of the handshake.
std::string ask(const tls& context, const server& web) {
  const std::unique_ptr<BIO, decltype(&BIO_free_all)> own{BIO_new_ssl_connect(context.get()), &BIO_free_all};
  const std::string to = "127.0.0.1:" + std::string(web.text());
  BIO_set_conn_hostname(own.get(), to.c_str());
  if (BIO_do_connect(own.get()) != 1) {
    const unsigned long error = ERR_peek_error();
    ERR_clear_error();
    return error ? ERR_reason_error_string(error) : "no reason";
  }
  BIO_puts(own.get(), "GET /wait?5 HTTP/1.1\r\nHost: localhost\r\n\r\n");
  std::string answer;
  std::array<char, 256> some;
  while (!answer.ends_with("hello\n")) {
    const int bytes_read = BIO_read(own.get(), some.data(), static_cast<int>(some.size()));
    if (bytes_read <= 0) break;
    answer.append(some.data(), static_cast<std::size_t>(bytes_read));
  }
  return answer.substr(answer.size() < 6 ? 0 : answer.size() - 6);
}

}  // namespace

TEST_CASE("OpenSSL: connections that fail spoil none beside them") {
  const server web("HOCKET_HTTPS"), trusted("HOCKET_HTTPS_CA");
  if (!web || !trusted) return;
  const tls good = trusting(trusted.text()), bad = trusting(nullptr);
  CHECK(ask(good, web) == "hello\n");
  int right = 0;
  loop lp;
  for (int i = 0; i < 100; ++i)
    spawn(lp, {.stack_size = 64 * 1024}, hook::hooked([&, i] {
            right += i % 2 == 0 ? ask(good, web) == "hello\n" : ask(bad, web) == "certificate verify failed";
          }));
  lp.run();
  CHECK(right == 100);
}
