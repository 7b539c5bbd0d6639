// The state of a client's connection, which a connection_pool asks for at return and at lending.
#pragma once
#include <hocket/base/seam/platform/config.hpp>

namespace hocket { inline namespace HOCKET_ABI {

// The state of a connection, by the client's own bookkeeping. Only an idle connection may be lent. In all other states
// the connection is in doubt: its next answer may belong to another request, or its session differs from a new one.
enum class connection_state : unsigned char {
  idle,              // every answer has arrived, no transaction is open, the session is unchanged
  awaiting_answers,  // answers to earlier requests are outstanding
  in_transaction,    // a transaction is open, or keys are watched
  subscribed,        // the server sends messages without a request
  copying,           // a bulk transfer is under way
  changed,           // the borrower has changed the session: another database, another user, a setting
  broken,            // closed, reset, out of step with the protocol, or a copy in a forked child
};

}}  // namespace hocket
