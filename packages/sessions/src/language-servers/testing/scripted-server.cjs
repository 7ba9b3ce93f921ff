#!/usr/bin/env node
// A language server for tests. A line with BAD is an error, a line with WARN a warning. Words in a line that is hovered over make it
// fail: CRASH, HANG, GARBAGE. It starts a child that must not outlive it, and appends each start to the file that is its argument.
const { appendFileSync } = require("node:fs");
const { spawn } = require("node:child_process");

const [log] = process.argv.slice(2);
const child = spawn("sleep", ["1000"], { detached: true, stdio: "ignore" });
if (log) appendFileSync(log, `start ${process.pid} ${child.pid}\n`);

const documents = new Map();
const send = (message) => {
  const text = JSON.stringify({ jsonrpc: "2.0", ...message });
  process.stdout.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
};
const lineAt = ({ textDocument, position }) => documents.get(textDocument.uri).split("\n")[position.line];
const rangeOf = (line, start, end) => ({ start: { line, character: start }, end: { line, character: end } });

function publish(uri, version) {
  const diagnostics = documents
    .get(uri)
    .split("\n")
    .flatMap((text, line) => {
      const severity = text.includes("BAD") ? 1 : text.includes("WARN") ? 2 : 0;
      return severity
        ? [{ range: rangeOf(line, 0, 3), severity, source: "scripted", code: "E1", message: `wrong: ${text}` }]
        : [];
    });
  send({ method: "textDocument/publishDiagnostics", params: { uri, version, diagnostics } });
}

const answers = {
  initialize: () => ({ capabilities: { textDocumentSync: 1, hoverProvider: true } }),
  shutdown: () => null,
  "textDocument/definition": ({ textDocument }) => ({ uri: textDocument.uri, range: rangeOf(0, 0, 1) }),
  "textDocument/references": ({ textDocument }) => [
    { uri: textDocument.uri, range: rangeOf(0, 0, 1) },
    { uri: "file:///etc/passwd", range: rangeOf(0, 0, 1) },
  ],
  "textDocument/hover"(params) {
    const line = lineAt(params);
    if (line.includes("CRASH")) {
      console.error("out of luck");
      process.exit(3);
    }
    if (line.includes("GARBAGE")) process.stdout.write("Hello!\r\n\r\n");
    return line.includes("HANG") || line.includes("GARBAGE")
      ? undefined
      : { contents: `at ${params.position.character}: ${line}` };
  },
};

function take({ id, method, params }) {
  if (method === "exit") process.exit(0);
  if (method === "textDocument/didOpen") {
    documents.set(params.textDocument.uri, params.textDocument.text);
    publish(params.textDocument.uri, params.textDocument.version);
  }
  if (method === "textDocument/didChange") {
    documents.set(params.textDocument.uri, params.contentChanges[0].text);
    publish(params.textDocument.uri, params.textDocument.version);
  }
  if (id === undefined || !method) return;
  const result = answers[method]?.(params);
  if (result !== undefined) send({ id, result });
  else if (!answers[method]) send({ id, error: { code: -32601, message: `${method} is unknown here` } });
}

let buffer = Buffer.alloc(0);
process.stdin.on("data", (chunk) => {
  buffer = Buffer.concat([buffer, chunk]);
  for (;;) {
    const end = buffer.indexOf("\r\n\r\n");
    if (end < 0) return;
    const length = Number(/Content-Length: (\d+)/.exec(buffer.toString("latin1", 0, end))[1]);
    if (buffer.length < end + 4 + length) return;
    const message = JSON.parse(buffer.toString("utf8", end + 4, end + 4 + length));
    buffer = buffer.subarray(end + 4 + length);
    take(message);
  }
});
