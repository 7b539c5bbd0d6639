// expect: hocket: service::add\(\) takes a server, not the result of tcp::serve
#include <hocket/hocket.hpp>
#include <hocket/net.hpp>

void add_server(hocket::service& all, hocket::result<hocket::tcp::server>& server) {
#ifdef SHOULD_FAIL
  all.add(server);
#else
  all.add(*server);
#endif
}
