// A game server's frame loop: the loop belongs to the game, which gives it a millisecond of each frame. A login is an
// ordinary function; it runs as a fiber, and waits for an answer of the database, at most three seconds. The
// coroutines of a player form a group, which ends when the player leaves.
#include <hocket/hocket.hpp>

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

enum class player_id : std::uint32_t {};

// The game's own transport, which knows nothing of coroutines: it sends requests with an id, and receives answers with
// the same id in some later frame, or never.
struct request {
  task_id id;
  player_id player;
};
struct database {
  std::vector<request> sent;
};

struct game {
  database db;
  std::vector<player_id> entered;
  int frame = 0;
};

void login(task_manager& tm, game& world, player_id player) {
  auto reply = tm.expect<std::string>({.within = 3s, .group = player});
  world.db.sent.push_back({reply.id(), player});
  auto row = await(reply);  // result<std::string>: late or cancelled is a value
  if (!row) {
    std::printf("frame %d: player %u is out: %s\n", world.frame, unsigned(player), row.error().message().c_str());
    return;
  }
  std::printf("frame %d: %s enters\n", world.frame, row->c_str());
  world.entered.push_back(player);
}

// The transport calls this function. A late reply is only counted.
void on_reply(task_manager& tm, request asked) {
  tm.complete(asked.id, "player " + std::to_string(unsigned(asked.player)));
}

}  // namespace

int main() {
  game world;
  loop lp;  // one thread; declared after what its coroutines use
  task_manager tm(lp);
  for (unsigned n : {1u, 2u, 3u}) {
    const player_id player{n};
    spawn(tm, {.name = "login", .group = player}, login, std::ref(tm), std::ref(world), player);
  }
  for (world.frame = 1; world.frame <= 4; ++world.frame) {
    lp.run_for(1ms);
    const std::vector<request>& asked = world.db.sent;
    if (world.frame == 1) on_reply(tm, asked[0]);
    if (world.frame == 2) tm.cancel_group(player_id{2});  // hangs up, while its login waits
    if (world.frame == 3) on_reply(tm, asked[2]), on_reply(tm, asked[1]);
  }
  const manager_counts counts = tm.counts();
  std::printf("%zu replies, %zu late\n", counts.completed, counts.late);
  return world.entered.size() == 2 && counts.late == 1 && tm.size() == 0 ? 0 : 1;
}
