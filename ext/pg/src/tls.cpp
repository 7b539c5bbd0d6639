#include "tls.hpp"

#include <dlfcn.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {
namespace {

// SSL_pending(3) of the OpenSSL that libpq has loaded: this library is not linked with OpenSSL. Null if the symbol is
// not visible, as in a program that links libpq statically.
using pending_function = int (*)(const void* ssl);
pending_function find_pending() noexcept {
  return reinterpret_cast<pending_function>(::dlsym(RTLD_DEFAULT, "SSL_pending"));
}

}  // namespace

bool has_decrypted(PGconn* handle) noexcept {
  if (PQsslInUse(handle) == 0) [[likely]]
    return false;
  static const pending_function pending = find_pending();
  void* const ssl = PQsslStruct(handle, "OpenSSL");
  return pending && ssl && pending(ssl) > 0;
}

}}}  // namespace hocket::detail
