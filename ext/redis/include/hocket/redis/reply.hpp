// Replies and commands of Redis (docs/redis.md).
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <hiredis/hiredis.h>
#include <memory>
#include <string>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace redis {

// The deleter of reply.
struct free_reply {
  void operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }
};
// Owns a reply of hiredis.
using reply = std::unique_ptr<redisReply, free_reply>;
// A command.
using words = std::vector<std::string>;

}}}  // namespace hocket::redis
