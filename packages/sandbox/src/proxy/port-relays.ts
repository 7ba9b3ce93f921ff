import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { connect, createServer, type LookupFunction, type Server, type Socket } from "node:net";
import { SandboxError } from "../sandbox-error.ts";
import { joinSockets } from "./join-sockets.ts";
import { closeServer, listenOnSocket, type SocketOwner, trackConnections } from "./listen-on-socket.ts";

export interface PortForwardOptions {
  /** The path of the unix socket. */
  socket: string;
  /** A loopback port of the host. */
  target: { port: number };
  owner?: SocketOwner;
}

export interface PortListenerOptions {
  /** Of the host's 127.0.0.1; 0 for any free one. */
  port: number;
  /** Where a program inside listens. */
  socket: string;
}

export interface PortListener extends AsyncDisposable {
  readonly port: number;
}

const MAX_CONNECTIONS = 128;
const IDLE_MS = 3_600_000;
const CONNECT_MS = 10_000;
/** Not in Node's constants: opens a file only to name it. */
const O_PATH = 0o10000000;

const LOOPBACK = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];
const loopbackLookup: LookupFunction = (_host, options, callback) => {
  if (options.all) callback(null, LOOPBACK);
  else callback(null, LOOPBACK[0]!.address, 4);
};

/**
 * Lets programs in a sandbox use one loopback port of the host, such as a database. Mount the socket inside and relay a port of
 * the sandbox to it. Only trusted configuration may name ports: a program inside can do whatever that service allows.
 */
export async function startPortForward(options: PortForwardOptions): Promise<AsyncDisposable> {
  const { port } = options.target;
  const server = relayServer((client) => {
    const target = connect({
      host: "localhost",
      port,
      lookup: loopbackLookup,
      autoSelectFamily: true,
      allowHalfOpen: true,
    });
    joinOnConnect(client, target);
  });
  return listenOnSocket(server, options.socket, options.owner);
}

/**
 * Shows a server inside a sandbox at a loopback port of the host. `socket` is in a folder that the sandbox can write, where a
 * program inside listens and passes connections to the server.
 */
export async function startPortListener(options: PortListenerOptions): Promise<PortListener> {
  const server = relayServer((client) => {
    joinWithoutLinks(client, options.socket).catch(() => client.destroy());
  });
  const connections = trackConnections(server);
  const port = await listenOnPort(server, options.port);
  return { port, [Symbol.asyncDispose]: () => closeServer(server, connections) };
}

function relayServer(onConnection: (client: Socket) => void): Server {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
    client.on("error", () => client.destroy());
    onConnection(client);
  });
  server.maxConnections = MAX_CONNECTIONS;
  return server;
}

function joinOnConnect(client: Socket, target: Socket): void {
  const giveUp = (): void => {
    target.destroy();
    client.destroy();
  };
  target.setTimeout(CONNECT_MS, giveUp);
  target.once("error", giveUp);
  client.once("close", () => void (client.readableEnded || target.destroy()));
  target.once("connect", () => {
    target.off("timeout", giveUp);
    joinSockets(client, target, IDLE_MS);
    client.resume();
  });
}

/**
 * The agent can replace the socket by a link to another socket of the host, such as Docker's. The file is opened without following
 * links, and the connection goes to that open file, so it cannot change between the check and the connection.
 */
async function joinWithoutLinks(client: Socket, path: string): Promise<void> {
  if (process.platform !== "linux") throw new SandboxError("sandbox_unavailable", "Ports are forwarded on Linux only.");
  const file = await open(path, O_PATH | constants.O_NOFOLLOW);
  try {
    if (!(await file.stat()).isSocket()) throw new Error("not a socket");
    // `connect` looks the path up before it returns, so the file can be closed then.
    joinOnConnect(client, connect({ path: `/proc/self/fd/${file.fd}`, allowHalfOpen: true }));
  } finally {
    await file.close();
  }
}

function listenOnPort(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => {
      const code = "code" in error ? String(error.code) : "";
      reject(
        new SandboxError("sandbox_port", `Port ${port} of this machine cannot be forwarded to the sandbox (${code}).`, {
          fix: "Stop the program that uses it, or name another port in sandbox.ports.",
          cause: error,
        }),
      );
    });
    server.listen({ port, host: "127.0.0.1" }, () => {
      server.on("error", () => {});
      const address = server.address();
      resolve(typeof address === "object" && address ? address.port : port);
    });
  });
}
