// The metrics of the process as text for Prometheus.
//
//   routes.get("/metrics", http::metrics);
//
// The text has each source of base/metrics.hpp: runtimes, the blocking pool, servers and connection pools by name, the
// memory of frames and stacks, and the sources of the program.
//
// Each combination of a name and labels has one value, as the format demands. If several sources report the same one,
// for instance two servers with the same name, their values are added; of a maximum the page shows the greatest. Give
// servers, runtimes and pools names of their own to see each of them.
//
// The page shows numbers of the process to everybody who can reach it: serve it on an address of its own, or put it
// into a group with a before() that checks the client.
//
// Source: Prometheus documentation, "Exposition formats", text format 0.0.4.
#pragma once
#include <hocket/http/response.hpp>
#include <string>

namespace hocket { inline namespace HOCKET_ABI { namespace http {

class request;

// A plain handler. Throws std::bad_alloc, and the exceptions of the program's sources.
response metrics(request&);

// The text, for other ways to publish it.
std::string metrics_text();

}}}  // namespace hocket::http
