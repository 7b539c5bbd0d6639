// The effect of a command on its connection, by its words.
//
// A command is harmless if its answer is its only effect on the session. This file knows the harmless commands by a
// list. Every command outside of the list counts as one that changes the session, also a command of a module and a
// command of a later server: then the connection is dropped at its return, and no other borrower sees the change. So
// an incomplete list costs connections, and never gives a borrower the session of another one.
#pragma once
#include <hocket/base/seam/text_list.hpp>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

enum class command_kind : std::uint8_t {
  harmless,
  blocking,  // harmless; the server may hold its answer back, and has perhaps popped an item for the waiter
  changing,  // changes the session: SELECT, AUTH, HELLO, RESET, QUIT, CLIENT TRACKING; or is not known
  multi,     // these five open and close a transaction
  exec,
  discard,
  watch,
  unwatch,
  subscribe,    // has an answer for each channel
  unsubscribe,  // the same; without channels, an answer for each subscription
  monitor,      // from its answer on, the server sends each command of all clients
  silencing,    // CLIENT REPLY OFF, CLIENT REPLY SKIP: the server sends no answer
};

// The three sets of subscriptions of a connection.
enum class subscription : std::uint8_t { channel, pattern, shard };

// `command` has at least one word. The case of letters is ignored, as by the server.
command_kind kind_of(const text_list& command) noexcept;

// Of SUBSCRIBE, UNSUBSCRIBE and their like, also as the first word of an answer in lower case.
subscription subscription_of(std::string_view name) noexcept;

bool equals_ignoring_case(std::string_view text, std::string_view upper) noexcept;

}}}  // namespace hocket::detail
