// node_client.js <port> <bytes of the upload>: asks http_peers, and prints the results as JSON.
"use strict";
const http = require("http");
const net = require("net");

const port = Number(process.argv[2]);
const size = Number(process.argv[3]);
const agent = new http.Agent({keepAlive: true, maxSockets: 8});
const pattern = (count) => Buffer.from(Uint8Array.from({length: count}, (_, i) => i % 251));

// Resolves with {status, body, socket}. `send` writes the body of the request and ends it.
function ask(path, options = {}, send = (request) => request.end()) {
  return new Promise((resolve, reject) => {
    const request = http.request({host: "127.0.0.1", port, path, agent, ...options}, (answer) => {
      const pieces = [];
      answer.on("data", (piece) => pieces.push(piece));
      answer.on("end", () => resolve({status: answer.statusCode, body: Buffer.concat(pieces), socket: answer.socket}));
      answer.on("error", reject);
    });
    request.on("error", reject);
    send(request);
  });
}

async function upload(pieces) {
  const answer = await ask("/upload", {method: "POST"}, async (request) => {
    for (const piece of pieces) {
      if (!request.write(piece)) await new Promise((resolve) => request.once("drain", resolve));
    }
    request.end();
  });
  return JSON.parse(answer.body);
}

async function sendBehindContinue() {
  let continued = false;
  const options = {method: "POST", headers: {Expect: "100-continue", "Content-Length": 5}};
  const answer = await ask("/upload", options, (request) => {
    request.on("continue", () => { continued = true; request.end("12345"); });
    request.flushHeaders();
  });
  return [continued, JSON.parse(answer.body)];
}

async function sendTrailers() {
  const answer = await ask("/upload", {method: "POST", headers: {Trailer: "X-Sum"}}, (request) => {
    request.write(pattern(10));
    request.addTrailers({"X-Sum": "10"});
    request.end();
  });
  return JSON.parse(answer.body);
}

function upgrade() {
  return new Promise((resolve, reject) => {
    const headers = {Connection: "Upgrade", Upgrade: "echo"};
    const request = http.request({host: "127.0.0.1", port, path: "/upgrade", headers});
    request.on("upgrade", (answer, socket) => {
      let text = "";
      socket.on("data", (piece) => { text += piece; });
      socket.on("end", () => resolve(text));
      socket.write("over ");
      socket.end("the socket");
    });
    request.on("response", (answer) => reject(new Error(`no upgrade: ${answer.statusCode}`)));
    request.on("error", reject);
    request.end();
  });
}

// Leaves in the middle of an answer.
function abort() {
  return new Promise((resolve, reject) => {
    const request = http.get({host: "127.0.0.1", port, path: "/pattern?bytes=100000000"}, (answer) => {
      answer.once("data", () => { request.destroy(); resolve(); });
      answer.on("error", () => {});
    });
    request.on("error", () => {});
  });
}

// Sends all bytes at once, and resolves with all bytes of the answers.
function exchange(bytes) {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, "127.0.0.1", () => socket.write(bytes));
    let text = "";
    socket.on("data", (piece) => { text += piece; });
    socket.on("end", () => { socket.end(); resolve(text); });
    socket.on("error", reject);
  });
}

const statuses = (text) => [...text.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map((match) => Number(match[1]));

async function main() {
  const results = {};
  const first = await ask("/plain");
  const again = [];
  for (let i = 0; i < 100; ++i) again.push((await ask("/plain")).socket);
  results.sockets = again.every((socket) => socket === first.socket);
  results.kinds = (await Promise.all(["/plain", "/task", "/fiber"].map((path) => ask(path)))).map((answer) => String(answer.body));
  const large = (await ask("/megabyte")).body;
  results.megabyte = [large.length, large.equals(pattern(large.length))];
  const body = pattern(size);
  const pieces = Array.from({length: Math.ceil(size / 9999)}, (_, i) => body.subarray(i * 9999, (i + 1) * 9999));
  results.upload = await upload(pieces);
  results.continue = await sendBehindContinue();
  results.lines = String((await ask("/lines?count=1000")).body).split("\n").length - 1;
  results.trailers = await sendTrailers();
  results.upgrade = await upgrade();
  results.aborted = (await Promise.all(Array.from({length: 30}, abort))).length;
  const paths = Array.from({length: 200}, (_, i) => ["/plain", "/task", "/fiber", "/lines?count=2"][i % 4]);
  const request = (path, fields = "") => `GET ${path} HTTP/1.1\r\nHost: a\r\n${fields}\r\n`;
  const answers = await exchange(paths.slice(1).map((path) => request(path)).join("") + request("/plain", "Connection: close\r\n"));
  results.pipelined = statuses(answers);
  const order = [...answers.matchAll(/plain\n|task\n|fiber\n|line 1\n/g)].map((match) => match[0].trim());
  results.order = order.join() === [...paths.slice(1), "/plain"].map((path) => path.includes("lines") ? "line 1" : path.slice(1)).join();
  results.malformed = statuses(await exchange(request("/plain") + request("/task") + "GET /plain HTTP/1.1\r\nHost : a\r\n\r\n" + request("/plain")));
  agent.destroy();
  console.log(JSON.stringify(results));
}

main().catch((error) => { console.error(error); process.exit(1); });
