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
  /** Opens the engine, which is begun at once and not waited for. */
  open: (
    servers: ClientServers,
  ) => Promise<Pick<AcpAgentOptions, "begin" | "mayWrite"> & { engine: Awaited<AcpAgentOptions["engine"]> }>;
  /** Ends it, as the client's own end does. */
  signal: AbortSignal;
}

export { redact } from "../http/redact.ts";

/** What passes a client's words on to a server that is up. Most have none, and need not load it. */
export const loadPipe = () => import("./net/pipe-acp.ts");

/** Speaks ACP with the one client that started this process. Resolves when that has closed its end. */
export async function serveAcpStdio({ stdin, stdout, open, signal, ...parts }: AcpStdio): Promise<void> {
  const clientServers = new ClientServers();
  const { promise: started, resolve: start } = Promise.withResolvers<void>();
  // What the first answer needs is loaded; the rest takes the processor from now on.
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

/** As fast as the client reads. */
const writerTo = (stdout: Writable): WritableStream<Uint8Array> =>
  new WritableStream({
    write: (chunk) =>
      new Promise((resolve, reject) => {
        stdout.write(chunk, (error) => (error ? reject(error) : resolve()));
      }),
  });

const isLifecycle = (value: unknown): value is { closed: Promise<void>; close(): void } =>
  typeof value === "object" && value !== null && "closed" in value && "close" in value;
