import { ndJsonStream } from "@agentclientprotocol/sdk/unstable";
import { once } from "node:events";
import { Readable, type Writable } from "node:stream";
import type { ReadableStream as WebReadable } from "node:stream/web";
import { ClientServers } from "./client-servers.ts";
import type { AcpAgentOptions } from "./acp-agent-options.ts";
import { createAcpAgent } from "./create-acp-agent.ts";

export interface AcpStdio extends Omit<AcpAgentOptions, "engine" | "clientServers" | "begin" | "mayWrite"> {
  stdin: Readable;
  stdout: Writable;
  /** Opens the engine. Started at once and not awaited. */
  open: (
    servers: ClientServers,
  ) => Promise<Pick<AcpAgentOptions, "begin" | "mayWrite"> & { engine: Awaited<AcpAgentOptions["engine"]> }>;
  /** Ends the connection, like the client closing stdin. */
  signal: AbortSignal;
}

export { redactLine } from "../http/redact.ts";

/** Loads the pipe to a running server. Loaded on demand, because most processes do not need it. */
export const loadPipe = () => import("./net/pipe-acp.ts");

/** Serves ACP to the one client that started this process. Resolves when the client closes its end. */
export async function serveAcpStdio({ stdin, stdout, open, signal, ...parts }: AcpStdio): Promise<void> {
  const clientServers = new ClientServers();
  const { promise: started, resolve: start } = Promise.withResolvers<void>();
  // Open the engine after the first response, so that it does not delay it.
  const opened = started.then(() => open(clientServers));
  opened.catch(() => undefined);
  const agent = createAcpAgent({
    ...parts,
    clientServers,
    engine: opened.then(({ engine }) => engine),
    begin: async (folder) => (await opened).begin(folder),
    mayWrite: async (session) => (await opened).mayWrite?.(session),
  });
  const ended = new AbortController();
  const input = Readable.toWeb(stdin, { strategy: { highWaterMark: 0 } }) as WebReadable<Uint8Array>;
  const lifecycle = agent.connect(ndJsonStream(writerTo(stdout), input));
  setImmediate(start);
  const stop = (): void => ended.abort();
  stdin.once("close", stop).once("end", stop).once("error", stop);
  stdout.once("close", stop).once("error", stop);
  signal.addEventListener("abort", stop, { once: true });
  if (isLifecycle(lifecycle)) void lifecycle.closed.finally(stop);
  if (!signal.aborted && !ended.signal.aborted) await once(ended.signal, "abort");
  if (isLifecycle(lifecycle)) lifecycle.close();
}

/** Waits for the client to read (backpressure). */
const writerTo = (stdout: Writable): WritableStream<Uint8Array> =>
  new WritableStream({
    write: (chunk) =>
      new Promise((resolve, reject) => {
        stdout.write(chunk, (error) => (error ? reject(error) : resolve()));
      }),
  });

const isLifecycle = (value: unknown): value is { closed: Promise<void>; close(): void } =>
  typeof value === "object" && value !== null && "closed" in value && "close" in value;
