// Bytes that TLS has decrypted and libpq has not read.
//
// libpq reads at most what fits into its buffer. A TLS record has up to 16 KB, so OpenSSL may keep the rest of a record
// that it has decrypted. The socket is not ready for these bytes: a wait for it would never end. So the reader asks
// has_decrypted() before each wait, and reads on while it is true.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <postgresql/libpq-fe.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Whether libpq can read without its socket. False without TLS.
bool has_decrypted(PGconn* handle) noexcept;

}}}  // namespace hocket::detail
