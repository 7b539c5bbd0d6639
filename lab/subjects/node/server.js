// Node's server of the page `net`: the module http, on its one thread. It parses each request. No deadlines.
const http = require('http');

const server = http.createServer((request, response) => {
  const found = request.method === 'GET' && request.url === '/';
  const text = found ? 'hello\n' : 'not found\n';
  response.writeHead(found ? 200 : 404, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': text.length,
  });
  response.end(text);
});
server.keepAliveTimeout = 0;
server.headersTimeout = 0;
server.requestTimeout = 0;
server.listen(0, '127.0.0.1', 4096, () => console.log(server.address().port));
