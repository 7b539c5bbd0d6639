// The page that a browser loads: its script asks for a body, a chunked stream, an upload and events, and writes the
// results into the page.
#pragma once
#include <string_view>

namespace http_peers {

inline constexpr std::string_view page = R"(<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>hocket</title>
<pre id="results"></pre>
<script>
  const show = (name, value) => document.getElementById("results").append(`${name}=${value}\n`);
  const text = async (path, options) => (await fetch(path, options)).text();
  const events = () => new Promise(resolve => {
    const source = new EventSource("/events?count=5"), data = [];
    source.addEventListener("count", event => data.push(`${event.lastEventId}:${event.data}`));
    source.addEventListener("end", () => { source.close(); resolve(data.join(",")); });
  });
  const run = async () => {
    show("plain", (await text("/plain")).trim());
    show("lines", (await text("/lines?count=100")).split("\n").length - 1);
    const bytes = new Uint8Array(await (await fetch("/megabyte")).arrayBuffer());
    show("megabyte", `${bytes.length} ${bytes.every((byte, i) => byte === i % 251)}`);
    show("upload", await text("/upload", {method: "POST", body: bytes}));
    show("range", (await fetch("/files/large.bin", {headers: {Range: "bytes=1000-1999"}})).status);
    show("missing", (await fetch("/missing")).status);
    show("head", (await fetch("/megabyte", {method: "HEAD"})).headers.get("Content-Length"));
    show("together", (await Promise.all(Array.from({length: 50}, () => text("/task")))).every(line => line === "task\n"));
    show("events", await events());
    show("done", true);
  };
  run().catch(error => show("error", error));
</script>
</html>
)";

}  // namespace http_peers
