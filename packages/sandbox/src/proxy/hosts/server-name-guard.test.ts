import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { connect } from "node:tls";
import { expect, inject, test } from "vitest";
import { readClientHello } from "./client-hello.ts";
import { openEgressStage } from "../testing/egress-stage.ts";
import { openTunnel, rawExchange, statusOf } from "../testing/raw-exchange.ts";
import { Scratch } from "../testing/scratch.ts";
import { openTlsHost } from "../testing/tls-host.ts";

const RUNS = inject("soak") ? 50_000 : 2_000;
const below = (limit: number): number => Math.floor(Math.random() * limit);

/** The first bytes of Node's TLS client. */
async function helloOf(servername: string): Promise<Buffer> {
  await using scratch = new Scratch();
  const server = createServer();
  const port = await scratch.listen(server);
  const client = connect({ port, host: "127.0.0.1", ...(servername !== "" && { servername }) });
  client.on("error", () => {});
  const [socket] = (await once(server, "connection")) as [Socket];
  const [hello] = (await once(socket, "data")) as [Buffer];
  client.destroy();
  return hello;
}

test("a hello is read when it is complete, also in several records", async () => {
  const hello = await helloOf("api.example");
  for (const length of [0, 1, 4, 5, 6, 50, hello.length - 1]) {
    expect(readClientHello(hello.subarray(0, length))).toEqual({ kind: "incomplete" });
  }
  expect(readClientHello(hello)).toEqual({ kind: "tls", serverName: "api.example" });
  const [head, body] = [hello.subarray(0, 3), hello.subarray(5)];
  const records = [body.subarray(0, 2), body.subarray(2, 70), body.subarray(70)].flatMap((part) => {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(part.length);
    return [head, length, part];
  });
  expect(readClientHello(Buffer.concat(records))).toEqual({ kind: "tls", serverName: "api.example" });
  expect(readClientHello(await helloOf(""))).toEqual({ kind: "tls", serverName: undefined });
});

test("no bytes break the reader", async () => {
  const hello = await helloOf("api.example");
  for (let run = 0; run < RUNS; run += 1) {
    const changed = Buffer.from(hello);
    for (let change = 0; change <= below(4); change += 1) changed[below(changed.length)] = below(256);
    expect(["incomplete", "other", "invalid", "tls"]).toContain(readClientHello(changed).kind);
  }
  expect(readClientHello(Buffer.alloc(40_000, 22))).toEqual({ kind: "invalid" });
  expect(readClientHello(Buffer.from("SSH-2.0-x"))).toEqual({ kind: "other" });
});

test.each([
  ["the same", "api.example", "accepted"],
  ["the same in capitals", "API.example", "accepted"],
  ["another", "evil.example", "refused"],
  ["no", "", "refused"],
])("a TLS connection with %s name (%j) is %s", async (_name, servername, outcome) => {
  await using scratch = new Scratch();
  let requests = 0;
  const { port, ca } = await openTlsHost(scratch, "api.example", (_request, response) => {
    requests += 1;
    response.end("hello");
  });
  const { egress, refused } = await openEgressStage(scratch, [`api.example:${port}`]);
  const socket = await openTunnel(egress.socket, `api.example:${port}`);
  const client = connect({
    socket,
    ca,
    checkServerIdentity: () => undefined,
    ...(servername !== "" && { servername }),
  });
  const ended = new Promise<string>((resolve) => {
    client.once("secureConnect", () => resolve("accepted"));
    client.once("error", () => resolve("refused"));
  });
  expect(await ended).toBe(outcome);
  client.destroy();
  expect(requests).toBe(0);
  const expected = outcome === "accepted" ? [] : [[servername || "api.example", "server_name"]];
  expect(refused.map(({ host, reason }) => [host, reason])).toEqual(expected);
});

test("protocols in which the server speaks first pass", async () => {
  await using scratch = new Scratch();
  const port = await scratch.listen(
    createServer((socket: Socket) => void socket.on("error", () => {}).end("SSH-2.0-server\r\n")),
  );
  const { egress } = await openEgressStage(scratch, [`git.example:${port}`]);
  const tunnel = await openTunnel(egress.socket, `git.example:${port}`);
  expect(String(await once(tunnel.resume(), "data"))).toBe("SSH-2.0-server\r\n");
  tunnel.destroy();
});

test("requests in a tunnel to port 80 must name its host", async () => {
  await using scratch = new Scratch();
  const { egress } = await openEgressStage(scratch, ["ok.example"]);
  const tunnelled = async (request: string): Promise<string> => {
    const tunnel = await openTunnel(egress.socket, "ok.example:80");
    tunnel.end(request);
    return Buffer.concat(await tunnel.toArray()).toString();
  };
  const answer = await tunnelled("GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
  expect(statusOf(answer)).toBe(403);
  expect(answer).toContain("This tunnel leads to ok.example only.");
  expect(
    statusOf(await tunnelled("GET http://evil.example/ HTTP/1.1\r\nHost: ok.example\r\nConnection: close\r\n\r\n")),
  ).toBe(403);
  expect(statusOf(await tunnelled("SSH-2.0-x\r\n\r\n"))).toBe(400);
  expect(statusOf(await rawExchange(egress.socket, "CONNECT ok.example:81 HTTP/1.1\r\n\r\n"))).toBe(403);
});
