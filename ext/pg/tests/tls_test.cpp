// Over TLS the socket is not ready for bytes that OpenSSL has decrypted and libpq has not read. A server of its own, by
// OpenSSL on a thread, writes each answer in records of 16 KB.
#include "scripted_server.hpp"

#include <hocket/coro/timeout_task.hpp>

#include <arpa/inet.h>
#include <memory>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace hocket;
using namespace std::chrono_literals;
using namespace hocket_test;

namespace {

template <class T, auto Free>
struct freed_by {
  void operator()(T* object) const { Free(object); }
};
template <class T, auto Free>
using owned = std::unique_ptr<T, freed_by<T, Free>>;

owned<SSL_CTX, SSL_CTX_free> make_context() {
  const owned<EVP_PKEY, EVP_PKEY_free> key(EVP_EC_gen("P-256"));
  const owned<X509, X509_free> certificate(X509_new());
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_set_pubkey(certificate.get(), key.get());
  X509_sign(certificate.get(), key.get(), EVP_sha256());
  owned<SSL_CTX, SSL_CTX_free> context(SSL_CTX_new(TLS_server_method()));
  SSL_CTX_use_certificate(context.get(), certificate.get());
  SSL_CTX_use_PrivateKey(context.get(), key.get());
  return context;
}

// Serves one client: answers the statement "N" by an answer of about N bytes, in as few records as possible.
class tls_server {
 public:
  tls_server() : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{AF_INET, 0, {htonl(INADDR_LOOPBACK)}, {}};
    socklen_t size = sizeof address;
    REQUIRE(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(::listen(listener_, 1) == 0);
    REQUIRE(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~tls_server() {
    thread_.join();
    ::close(listener_);
  }
  std::string where() const {
    return "host=127.0.0.1 user=u dbname=d sslmode=require gssencmode=disable port=" + std::to_string(port_);
  }

  // An answer of so many bytes: rows of 60 bytes, and a last row that fills it.
  static std::string answer(std::size_t size) {
    const std::string end = complete("SELECT 1") + ready('I');
    const std::string row = data_row(std::string(49, 'x'));
    const std::size_t smallest = data_row("").size();
    std::string bytes = row_description();
    while (bytes.size() + row.size() + smallest + end.size() <= size) bytes += row;
    return bytes + data_row(std::string(size - bytes.size() - smallest - end.size(), 'y')) + end;
  }

 private:
  void serve() {
    const auto context = make_context();
    const int client = ::accept(listener_, nullptr, nullptr);
    char request[8];
    static_cast<void>(::recv(client, request, sizeof request, MSG_WAITALL));
    static_cast<void>(::send(client, "S", 1, 0));
    const owned<SSL, SSL_free> tls(SSL_new(context.get()));
    SSL_set_fd(tls.get(), client);
    char data[4096];
    if (SSL_accept(tls.get()) == 1 && SSL_read(tls.get(), data, sizeof data) > 0 && write(tls.get(), welcome(1, 2)))
      for (int size; (size = SSL_read(tls.get(), data, sizeof data)) > 0 && data[0] == 'Q';)
        if (!write(tls.get(), answer(static_cast<std::size_t>(std::atoi(data + 5))))) break;
    ::close(client);
  }
  static bool write(SSL* tls, const std::string& bytes) {
    return SSL_write(tls, bytes.data(), static_cast<int>(bytes.size())) > 0;
  }

  const int listener_;
  int port_ = 0;
  std::thread thread_;
};

}  // namespace

TEST_CASE("over TLS the rest of a record that libpq has not read is read without a wait for the socket") {
  const tls_server server;
  run_script([&]() -> task<> {
    pg::connection client = (co_await pg::connect(server.where())).value();
    CHECK(PQsslInUse(client.native()) == 1);
    for (const std::size_t records : {1u, 2u, 3u, 5u})
      for (std::size_t less = 0; less < 130; less += 13) {
        const std::size_t size = records * 16'384 - less;
        CAPTURE(size);
        const auto answer = co_await within(10s, client.query(std::to_string(size)));
        REQUIRE(answer.has_value());
        REQUIRE(PQntuples(answer->get()) > 1);
      }
    CHECK(client.is_idle());
  });
}

TEST_CASE("a server that refuses TLS is an error of its own") {
  run_script([]() -> task<> {
    scripted_server server;
    auto refuse = spawn([&]() -> task<> {
      tcp::stream stream = co_await server.accept();
      char request[8];
      CHECK((co_await stream.read_exactly(mutable_buffer(request, sizeof request))).has_value());
      CHECK((co_await stream.write_all(const_buffer("N", 1))).has_value());
    });
    std::string text;
    const auto client = co_await pg::connect(server.where("sslmode=require"), &text);
    co_await refuse;
    CHECK(client.error() == pg::errc::tls_failed);
    CHECK(text.find("SSL") != std::string::npos);
  });
}
