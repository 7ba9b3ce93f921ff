import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { expect, test } from "vitest";
import { listenOnSocket } from "./listen-on-socket.ts";
import { openPortForward, openPortListener } from "./open-proxies.ts";
import { Scratch } from "./testing/scratch.ts";

const echo = (): Server =>
  createServer({ allowHalfOpen: true }, (socket) => void socket.on("error", () => {}).pipe(socket));

async function roundTrip(client: Socket, text: string): Promise<string> {
  client.on("error", () => {});
  client.end(text);
  return Buffer.concat(await client.toArray()).toString();
}

async function listenAt(scratch: Scratch, path: string, server: Server): Promise<void> {
  scratch.use(await listenOnSocket(server, path));
}

test("a loopback port of the host is reachable through its socket", async () => {
  await using scratch = new Scratch();
  const port = await scratch.listen(echo());
  const socket = scratch.path("db.sock");
  scratch.use(await openPortForward({ socket, target: { port } }));
  const large = "x".repeat(1_000_000);
  expect(await roundTrip(connect(socket), large)).toBe(large);
});

test("a service that is down closes the connection", async () => {
  await using scratch = new Scratch();
  const socket = scratch.path("db.sock");
  scratch.use(await openPortForward({ socket, target: { port: 1 } }));
  expect(await roundTrip(connect(socket), "hello").catch(() => "")).toBe("");
});

test("a port of the host leads to the socket of a program inside", async () => {
  await using scratch = new Scratch();
  const socket = scratch.path("3000.sock");
  const { port } = scratch.use(await openPortListener({ port: 0, socket }));
  // Nothing listens inside yet.
  expect(await roundTrip(connect(port, "127.0.0.1"), "early").catch(() => "")).toBe("");
  await listenAt(scratch, socket, echo());
  expect(await roundTrip(connect(port, "127.0.0.1"), "hello")).toBe("hello");
});

test("a link planted by the agent does not lead to another socket of the host", async () => {
  await using scratch = new Scratch();
  const hostSocket = scratch.path("docker.sock");
  let reached = 0;
  await listenAt(
    scratch,
    hostSocket,
    createServer((client) => {
      reached += 1;
      client.end("secret");
    }),
  );
  const planted = scratch.path("3000.sock");
  const { port } = scratch.use(await openPortListener({ port: 0, socket: planted }));
  symlinkSync(hostSocket, planted);
  expect(await roundTrip(connect(port, "127.0.0.1"), "hello").catch(() => "")).toBe("");
  rmSync(planted);
  writeFileSync(planted, "a file");
  expect(await roundTrip(connect(port, "127.0.0.1"), "hello").catch(() => "")).toBe("");
  expect(reached).toBe(0);
});

test("a port that is taken is reported with a fix", async () => {
  await using scratch = new Scratch();
  const port = await scratch.listen(echo());
  await expect(openPortListener({ port, socket: scratch.path("x.sock") })).rejects.toMatchObject({
    code: "sandbox_port",
    fix: expect.stringContaining("sandbox.ports"),
  });
});
