#include "command_kind.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {
namespace {

// Sorted. Redis 7.2 and earlier. Not in the list, on purpose: ACL, ASKING, AUTH, HELLO, QUIT, READONLY, READWRITE,
// RESET, SELECT, and the commands of replicas and modules.
constexpr std::string_view harmless[] = {"APPEND",
                                         "BGREWRITEAOF",
                                         "BGSAVE",
                                         "BITCOUNT",
                                         "BITFIELD",
                                         "BITFIELD_RO",
                                         "BITOP",
                                         "BITPOS",
                                         "CLUSTER",
                                         "COMMAND",
                                         "CONFIG",
                                         "COPY",
                                         "DBSIZE",
                                         "DECR",
                                         "DECRBY",
                                         "DEL",
                                         "DUMP",
                                         "ECHO",
                                         "EVAL",
                                         "EVALSHA",
                                         "EVALSHA_RO",
                                         "EVAL_RO",
                                         "EXISTS",
                                         "EXPIRE",
                                         "EXPIREAT",
                                         "EXPIRETIME",
                                         "FCALL",
                                         "FCALL_RO",
                                         "FLUSHALL",
                                         "FLUSHDB",
                                         "FUNCTION",
                                         "GEOADD",
                                         "GEODIST",
                                         "GEOHASH",
                                         "GEOPOS",
                                         "GEORADIUS",
                                         "GEORADIUSBYMEMBER",
                                         "GEORADIUSBYMEMBER_RO",
                                         "GEORADIUS_RO",
                                         "GEOSEARCH",
                                         "GEOSEARCHSTORE",
                                         "GET",
                                         "GETBIT",
                                         "GETDEL",
                                         "GETEX",
                                         "GETRANGE",
                                         "GETSET",
                                         "HDEL",
                                         "HEXISTS",
                                         "HEXPIRE",
                                         "HEXPIREAT",
                                         "HEXPIRETIME",
                                         "HGET",
                                         "HGETALL",
                                         "HINCRBY",
                                         "HINCRBYFLOAT",
                                         "HKEYS",
                                         "HLEN",
                                         "HMGET",
                                         "HMSET",
                                         "HPERSIST",
                                         "HPEXPIRE",
                                         "HPEXPIREAT",
                                         "HPEXPIRETIME",
                                         "HPTTL",
                                         "HRANDFIELD",
                                         "HSCAN",
                                         "HSET",
                                         "HSETNX",
                                         "HSTRLEN",
                                         "HTTL",
                                         "HVALS",
                                         "INCR",
                                         "INCRBY",
                                         "INCRBYFLOAT",
                                         "INFO",
                                         "KEYS",
                                         "LASTSAVE",
                                         "LATENCY",
                                         "LCS",
                                         "LINDEX",
                                         "LINSERT",
                                         "LLEN",
                                         "LMOVE",
                                         "LMPOP",
                                         "LOLWUT",
                                         "LPOP",
                                         "LPOS",
                                         "LPUSH",
                                         "LPUSHX",
                                         "LRANGE",
                                         "LREM",
                                         "LSET",
                                         "LTRIM",
                                         "MEMORY",
                                         "MGET",
                                         "MIGRATE",
                                         "MOVE",
                                         "MSET",
                                         "MSETNX",
                                         "OBJECT",
                                         "PERSIST",
                                         "PEXPIRE",
                                         "PEXPIREAT",
                                         "PEXPIRETIME",
                                         "PFADD",
                                         "PFCOUNT",
                                         "PFMERGE",
                                         "PING",
                                         "PSETEX",
                                         "PTTL",
                                         "PUBLISH",
                                         "PUBSUB",
                                         "RANDOMKEY",
                                         "RENAME",
                                         "RENAMENX",
                                         "RESTORE",
                                         "ROLE",
                                         "RPOP",
                                         "RPOPLPUSH",
                                         "RPUSH",
                                         "RPUSHX",
                                         "SADD",
                                         "SAVE",
                                         "SCAN",
                                         "SCARD",
                                         "SDIFF",
                                         "SDIFFSTORE",
                                         "SET",
                                         "SETBIT",
                                         "SETEX",
                                         "SETNX",
                                         "SETRANGE",
                                         "SINTER",
                                         "SINTERCARD",
                                         "SINTERSTORE",
                                         "SISMEMBER",
                                         "SLOWLOG",
                                         "SMEMBERS",
                                         "SMISMEMBER",
                                         "SMOVE",
                                         "SORT",
                                         "SORT_RO",
                                         "SPOP",
                                         "SPUBLISH",
                                         "SRANDMEMBER",
                                         "SREM",
                                         "SSCAN",
                                         "STRLEN",
                                         "SUBSTR",
                                         "SUNION",
                                         "SUNIONSTORE",
                                         "SWAPDB",
                                         "TIME",
                                         "TOUCH",
                                         "TTL",
                                         "TYPE",
                                         "UNLINK",
                                         "XACK",
                                         "XADD",
                                         "XAUTOCLAIM",
                                         "XCLAIM",
                                         "XDEL",
                                         "XGROUP",
                                         "XINFO",
                                         "XLEN",
                                         "XPENDING",
                                         "XRANGE",
                                         "XREAD",
                                         "XREADGROUP",
                                         "XREVRANGE",
                                         "XSETID",
                                         "XTRIM",
                                         "ZADD",
                                         "ZCARD",
                                         "ZCOUNT",
                                         "ZDIFF",
                                         "ZDIFFSTORE",
                                         "ZINCRBY",
                                         "ZINTER",
                                         "ZINTERCARD",
                                         "ZINTERSTORE",
                                         "ZLEXCOUNT",
                                         "ZMPOP",
                                         "ZMSCORE",
                                         "ZPOPMAX",
                                         "ZPOPMIN",
                                         "ZRANDMEMBER",
                                         "ZRANGE",
                                         "ZRANGEBYLEX",
                                         "ZRANGEBYSCORE",
                                         "ZRANGESTORE",
                                         "ZRANK",
                                         "ZREM",
                                         "ZREMRANGEBYLEX",
                                         "ZREMRANGEBYRANK",
                                         "ZREMRANGEBYSCORE",
                                         "ZREVRANGE",
                                         "ZREVRANGEBYLEX",
                                         "ZREVRANGEBYSCORE",
                                         "ZREVRANK",
                                         "ZSCAN",
                                         "ZSCORE",
                                         "ZUNION",
                                         "ZUNIONSTORE"};
static_assert(std::is_sorted(std::begin(harmless), std::end(harmless)));

struct special {
  std::string_view name;
  command_kind kind;
};
// Sorted by name.
constexpr special specials[] = {
    {"BLMOVE", command_kind::blocking},          {"BLMPOP", command_kind::blocking},
    {"BLPOP", command_kind::blocking},           {"BRPOP", command_kind::blocking},
    {"BRPOPLPUSH", command_kind::blocking},      {"BZMPOP", command_kind::blocking},
    {"BZPOPMAX", command_kind::blocking},        {"BZPOPMIN", command_kind::blocking},
    {"DISCARD", command_kind::discard},          {"EXEC", command_kind::exec},
    {"MONITOR", command_kind::monitor},          {"MULTI", command_kind::multi},
    {"PSUBSCRIBE", command_kind::subscribe},     {"PUNSUBSCRIBE", command_kind::unsubscribe},
    {"SSUBSCRIBE", command_kind::subscribe},     {"SUBSCRIBE", command_kind::subscribe},
    {"SUNSUBSCRIBE", command_kind::unsubscribe}, {"UNSUBSCRIBE", command_kind::unsubscribe},
    {"UNWATCH", command_kind::unwatch},          {"WAIT", command_kind::blocking},
    {"WAITAOF", command_kind::blocking},         {"WATCH", command_kind::watch}};
static_assert(std::is_sorted(std::begin(specials), std::end(specials),
                             [](const special& a, const special& b) { return a.name < b.name; }));

constexpr char to_upper(char letter) noexcept {
  return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
}

// A name in upper case; empty if it is longer than any that is known.
class upper_name {
 public:
  explicit upper_name(std::string_view name) noexcept : size_(name.size() <= bytes_.size() ? name.size() : 0) {
    std::transform(name.begin(), name.begin() + static_cast<std::ptrdiff_t>(size_), bytes_.begin(), to_upper);
  }
  std::string_view text() const noexcept { return {bytes_.data(), size_}; }

 private:
  std::array<char, 24> bytes_;
  std::size_t size_;
};

bool has_word(const text_list& command, std::size_t index, std::string_view upper) noexcept {
  return index < command.size() && equals_ignoring_case(command[index], upper);
}

command_kind kind_of_client(const text_list& command) noexcept {
  if (has_word(command, 1, "ID") || has_word(command, 1, "GETNAME")) return command_kind::harmless;
  const bool is_reply = has_word(command, 1, "REPLY") && !has_word(command, 2, "ON");
  return is_reply ? command_kind::silencing : command_kind::changing;
}

// XREAD and XREADGROUP: whether the option BLOCK is before the keys. A group or a consumer may have any name.
bool blocks(const text_list& command) noexcept {
  for (std::size_t i = 1; i < command.size() && !has_word(command, i, "STREAMS"); ++i) {
    if (has_word(command, i, "BLOCK")) return true;
    if (has_word(command, i, "GROUP")) i += 2;
  }
  return false;
}

command_kind kind_of_known(std::string_view name, const text_list& command) noexcept {
  const bool reads_stream = name == "XREAD" || name == "XREADGROUP";
  return reads_stream && blocks(command) ? command_kind::blocking : command_kind::harmless;
}

}  // namespace

bool equals_ignoring_case(std::string_view text, std::string_view upper) noexcept {
  return text.size() == upper.size() &&
         std::equal(text.begin(), text.end(), upper.begin(), [](char a, char b) { return to_upper(a) == b; });
}

command_kind kind_of(const text_list& command) noexcept {
  const upper_name upper(command[0]);
  const std::string_view name = upper.text();
  if (std::binary_search(std::begin(harmless), std::end(harmless), name)) return kind_of_known(name, command);
  if (name == "CLIENT") return kind_of_client(command);
  if (name == "SCRIPT") return has_word(command, 1, "DEBUG") ? command_kind::changing : command_kind::harmless;
  const auto* const found = std::lower_bound(std::begin(specials), std::end(specials), name,
                                             [](const special& a, std::string_view b) { return a.name < b; });
  return found != std::end(specials) && found->name == name ? found->kind : command_kind::changing;
}

subscription subscription_of(std::string_view name) noexcept {
  const char first = to_upper(name[0]);
  if (first == 'P') return subscription::pattern;
  const bool is_shard = first == 'S' && !equals_ignoring_case(name.substr(0, 3), "SUB");
  return is_shard ? subscription::shard : subscription::channel;
}

}}}  // namespace hocket::detail
