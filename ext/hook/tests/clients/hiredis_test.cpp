// hiredis.
#include "clients.hpp"

#include <hiredis/hiredis.h>
#include <memory>

using namespace client_tests;

namespace {

using connection = std::unique_ptr<redisContext, decltype(&redisFree)>;

struct answer {
  std::unique_ptr<void, decltype(&freeReplyObject)> held;
  const redisReply* operator->() const { return static_cast<redisReply*>(held.get()); }
  explicit operator bool() const { return held != nullptr; }
};

connection connect(const server& db) { return {redisConnect("127.0.0.1", db.port()), &redisFree}; }

template <class... Args>
answer command(const connection& db, const char* format, Args... args) {
  return {{redisCommand(db.get(), format, args...), &freeReplyObject}};
}

std::string words_of(const answer& reply) {
  if (!reply) return "no answer";
  if (reply->str) return std::string(reply->str, reply->len);
  std::string words = std::to_string(reply->integer);
  for (std::size_t i = 0; i < reply->elements; ++i)
    words.append(" ").append(reply->element[i]->str, reply->element[i]->len);
  return words;
}

}  // namespace

TEST_CASE("hiredis: 200 sessions at once give what one on a thread gives") {
  const server db("HOCKET_REDIS");
  if (!db) return;
  expect_equal_output(200, [&] {
    const connection own = connect(db);
    if (!own || own->err) return std::string(own ? own->errstr : "no memory");
    std::string all = words_of(command(own, "SET key %s", std::string(100'000, 'v').c_str()));
    all += words_of(command(own, "GET key"));
    for (int i = 0; i < 50; ++i) redisAppendCommand(own.get(), "ECHO %d", i);
    for (int i = 0; i < 50; ++i) {
      void* reply = nullptr;
      CHECK(redisGetReply(own.get(), &reply) == REDIS_OK);
      all += words_of({{reply, &freeReplyObject}});
    }
    return all + words_of(command(own, "NONSENSE"));
  });
}

TEST_CASE("hiredis: fibers that wait for a list let the fiber that fills it run on the same thread") {
  const server db("HOCKET_REDIS");
  if (!db) return;
  std::vector<std::string> popped(100);
  loop lp;
  std::size_t begun = 0;
  for (std::string& words : popped)
    spawn(lp, hook::hooked([&] {
            const connection own = connect(db);
            ++begun;
            words = words_of(command(own, "BLPOP list 60"));
          }));
  spawn(lp, hook::hooked([&] {
          const connection own = connect(db);
          while (begun != popped.size()) await(yield());
          for (std::size_t i = 0; i < popped.size(); ++i) command(own, "RPUSH list item");
        }));
  lp.run();
  for (const std::string& words : popped) CHECK(words == "0 list item");
}

TEST_CASE("hiredis: a time limit of its own ends a wait") {
  const server db("HOCKET_REDIS");
  if (!db) return;
  in_fiber([&] {
    const connection own = connect(db);
    const timeval limit{0, 5000};
    CHECK(redisSetTimeout(own.get(), limit) == REDIS_OK);
    CHECK_FALSE(command(own, "BLPOP nothing 60"));
    CHECK(own->err == REDIS_ERR_IO);
    CHECK(errno == EAGAIN);
  });
}

TEST_CASE("hiredis: a cancel, a deadline and a kill at each call of a session") {
  const server db("HOCKET_REDIS");
  if (!db) return;
  const auto session = [&] {
    const connection own = connect(db);
    return own && own->err == 0 && words_of(command(own, "BLPOP nothing 0.01")) == "0" &&
           words_of(command(own, "PING")) == "PONG";
  };
  end_everywhere(session, 5);
}
