import { once } from "node:events";
import { createServer as createHttpServer, type IncomingMessage } from "node:http";
import { createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { text } from "node:stream/consumers";
import { expect, inject, test } from "vitest";
import { createResolver, isUnreachable } from "./check-target.ts";
import { openDnsStub } from "./testing/dns-stub.ts";
import { openEgressStage, PUBLIC } from "./testing/egress-stage.ts";
import { openTunnel, rawExchange, statusOf } from "./testing/raw-exchange.ts";
import { Scratch } from "./testing/scratch.ts";

const echo = () => createServer({ allowHalfOpen: true }, (socket) => void socket.on("error", () => {}).pipe(socket));
const connectTo = (target: string): string => `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`;

test("a tunnel to an allowed host passes bytes both ways, with half-open ends", async () => {
  await using scratch = new Scratch();
  const port = await scratch.listen(echo());
  const { egress, refused, resolved } = await openEgressStage(scratch, [`ok.example:${port}`]);
  const tunnel = await openTunnel(egress.socket, `OK.example.:${port}`);
  const sent = Buffer.alloc(3_000_000, "abcdefg");
  tunnel.end(sent);
  const received = Buffer.concat(await tunnel.toArray());
  expect(received.equals(sent)).toBe(true);
  expect(resolved).toEqual(["ok.example"]);
  expect(refused).toEqual([]);
});

test("a plain http request is forwarded with its body, without hop-by-hop headers", async () => {
  await using scratch = new Scratch();
  const seen: IncomingMessage[] = [];
  const port = await scratch.listen(
    createHttpServer((request, response) => {
      seen.push(request);
      response.writeHead(201, { "x-answer": "yes", "set-cookie": ["a=1", "b=2"], "proxy-authenticate": "Basic" });
      void text(request).then((body) => response.end(`${request.method} ${request.url} ${body}`));
    }),
  );
  const { egress } = await openEgressStage(scratch, [`ok.example:${port}`]);
  const host = `ok.example:${port}`;
  const answer = await rawExchange(
    egress.socket,
    `POST http://${host}/a/../b?c=%2e HTTP/1.1\r\nHost: ${host}\r\nConnection: close, X-Drop\r\nX-Drop: 1\r\nX-Keep: 2\r\n` +
      "Proxy-Authorization: Basic eDp5\r\nProxy-Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
  );
  expect(statusOf(answer)).toBe(201);
  expect(answer).toContain("POST /a/../b?c=%2e hi");
  expect(answer.match(/set-cookie: \w=\d/g)).toEqual(["set-cookie: a=1", "set-cookie: b=2"]);
  expect(answer).not.toContain("proxy-authenticate");
  expect(seen[0]!.headers).toMatchObject({ host, "x-keep": "2" });
  expect(Object.keys(seen[0]!.headers)).not.toEqual(expect.arrayContaining(["x-drop"]));
  expect(JSON.stringify(seen[0]!.rawHeaders)).not.toMatch(/proxy|x-drop/i);
});

test("a host that is not allowed is not resolved, and the refusal says how to allow it", async () => {
  await using scratch = new Scratch();
  const { egress, refused, resolved } = await openEgressStage(scratch, ["ok.example"]);
  const answer = await rawExchange(egress.socket, connectTo("data.evil.example:443"));
  expect(answer).toMatch(/^HTTP\/1\.1 403 Refused by the sandbox: data\.evil\.example\r\n/);
  expect(answer).toContain("The sandbox does not allow the host data.evil.example.");
  expect(answer).toContain("sandbox.hosts");
  const plain = await rawExchange(
    egress.socket,
    "GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
  );
  expect(statusOf(plain)).toBe(403);
  const port = await rawExchange(egress.socket, connectTo("ok.example:5432"));
  expect(port).toContain("The sandbox allows ok.example, but not its port 5432.");
  expect(resolved).toEqual([]);
  expect(refused.map(({ host, port, reason }) => [host, port, reason])).toEqual([
    ["data.evil.example", 443, "not_allowed"],
    ["evil.example", 80, "not_allowed"],
    ["ok.example", 5432, "port"],
  ]);
});

test("a host that is allowed later works at once", async () => {
  await using scratch = new Scratch();
  const port = await scratch.listen(echo());
  let isAllowed = false;
  const { egress } = await openEgressStage(scratch, [], { isAllowed: () => isAllowed });
  await expect(openTunnel(egress.socket, `late.example:${port}`)).rejects.toThrow("403");
  isAllowed = true;
  (await openTunnel(egress.socket, `late.example:${port}`)).destroy();
});

test("refusals are reported once a minute, and not in floods", async () => {
  await using scratch = new Scratch();
  let now = 0;
  const { egress, refused } = await openEgressStage(scratch, [], { now: () => now });
  for (let run = 0; run < 5; run += 1) await rawExchange(egress.socket, connectTo("evil.example:443"));
  expect(refused.length).toBe(1);
  now = 60_000;
  await rawExchange(egress.socket, connectTo("evil.example:443"));
  expect(refused.length).toBe(2);
  for (let run = 0; run < 40; run += 1) await rawExchange(egress.socket, connectTo(`evil${run}.example:443`));
  expect(refused.length).toBe(31);
});

test("names are resolved once, and the connection goes to the checked address", async () => {
  await using scratch = new Scratch();
  const port = await scratch.listen(echo());
  const dns = await openDnsStub(scratch, {
    // A rebinding server: public for the check, private for a second lookup.
    "rebind.example": [[PUBLIC], ["127.0.0.9"]],
    "private.example": [["127.0.0.9"]],
    "mixed.example": [[PUBLIC, "127.0.0.9"]],
    "metadata.example": [["169.254.169.254"]],
  });
  const { egress, refused } = await openEgressStage(scratch, [`*.example:${port}`, "rebind.example"].slice(1), {
    isAllowed: () => true,
    resolve: createResolver([dns.server]),
  });
  const tunnel = await openTunnel(egress.socket, `rebind.example:${port}`);
  tunnel.end("hello");
  expect(String(Buffer.concat(await tunnel.toArray()))).toBe("hello");
  expect(dns.asked.filter((query) => query === "rebind.example 1")).toEqual(["rebind.example 1"]);
  for (const name of ["rebind", "private", "mixed", "metadata"]) {
    const answer = await rawExchange(egress.socket, connectTo(`${name}.example:${port}`));
    expect(answer).toContain(`${name}.example is one of this machine or of a private network`);
  }
  expect(await rawExchange(egress.socket, connectTo(`missing.example:${port}`))).toContain("cannot be resolved");
  expect(refused.map(({ reason }) => reason)).toEqual([...Array<string>(4).fill("private_address"), "unresolvable"]);
});

test("addresses of this machine count as private, also public ones", () => {
  const own = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  expect(own.length).toBeGreaterThan(0);
  for (const { address, family } of own) {
    expect(isUnreachable(address), address).toBe(true);
    if (family === "IPv4") expect(isUnreachable(`::ffff:${address}`), address).toBe(true);
  }
  expect(isUnreachable("93.184.216.34")).toBe(false);
});

test("an unreachable host is an answer, and idle tunnels end", async () => {
  await using scratch = new Scratch();
  const port = await scratch.listen(createServer((socket) => void socket.on("error", () => {})));
  const { egress } = await openEgressStage(scratch, [], {
    isAllowed: () => true,
    limits: { idleMs: 300 * inject("slowness") },
  });
  expect(statusOf(await rawExchange(egress.socket, connectTo("down.example:1")))).toBe(502);
  const plain =
    "POST http://down.example:1/ HTTP/1.1\r\nHost: down.example:1\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi";
  expect(await rawExchange(egress.socket, plain)).toContain("down.example cannot be reached (ECONNREFUSED)");
  const tunnel = await openTunnel(egress.socket, `quiet.example:${port}`);
  tunnel.resume();
  await once(tunnel, "close");
});

test("disposing the proxy ends tunnels", async () => {
  await using scratch = new Scratch();
  const port = await scratch.listen(echo());
  const { egress } = await openEgressStage(scratch, [], { isAllowed: () => true });
  const tunnel = await openTunnel(egress.socket, `ok.example:${port}`);
  tunnel.on("error", () => {});
  tunnel.resume();
  await egress[Symbol.asyncDispose]();
  await expect.poll(() => tunnel.destroyed).toBe(true);
});
