import { stdio } from "@tandem/protocol";
import type { Readable, Writable } from "node:stream";
import type { Logger } from "../http/create-logger.ts";
import { readLines } from "./line-reader.ts";
import { LineWriter } from "./line-writer.ts";
import { defaultLimits, type StdioLimits } from "./stdio-limits.ts";
import { methods, OWN_METHODS } from "./methods.ts";
import { StdioHost } from "./stdio-host.ts";
import type { Wire } from "./wire.ts";

const DEADLINES = {
  /** Time to answer open requests after the host closed its end. */
  answerMs: 10_000,
  /** The same if the process must exit for another reason. */
  hurryMs: 2_000,
  flushMs: 2_000,
};

/**
 * Serves the API to one host, with one JSON line per request, response and event, until the host closes its end, exits,
 * or the signal fires. Resolves when every request has been answered or aborted.
 */
export async function serveStdio(parts: {
  wire: Wire;
  stdin: Readable;
  stdout: Writable;
  version: string;
  /** Whether this process or a running server executes requests. */
  engine: "own" | "server";
  signal: AbortSignal;
  logger: Pick<Logger, "info">;
  limits?: Partial<StdioLimits>;
  deadlines?: Partial<typeof DEADLINES>;
}): Promise<void> {
  const limits = { ...defaultLimits, ...parts.limits };
  const { answerMs, hurryMs, flushMs } = { ...DEADLINES, ...parts.deadlines };
  const writer = new LineWriter(parts.stdout);
  const onHello = (client: string | undefined) => parts.logger.info({ client }, "a host connected");
  const host = new StdioHost({ wire: parts.wire, writer, limits, onHello });
  const over = AbortSignal.any([parts.signal, writer.closed]);
  await writer.write(JSON.stringify(helloOf(parts, limits)));
  // Do not wait for a host that closed its end to read: another process may hold its pipe open.
  let leaving: NodeJS.Timeout | undefined;
  const leave = (): void => {
    leaving ??= setTimeout(() => writer.abandon(), (over.aborted ? hurryMs : answerMs) + flushMs);
  };
  over.addEventListener("abort", leave, { once: true });
  const lines = readLines(parts.stdin, limits.lineBytes, over);
  for (let next = lines.next(); ;) {
    const line = await next;
    if (line.done || over.aborted) break;
    // Read one line ahead, to notice the end of input even while a host that does not read blocks earlier lines.
    next = lines.next();
    void next.then(({ done }) => done && leave());
    await host.receive(line.value);
    // Stop reading from a host that does not read, or its requests would pile up.
    await writer.ready();
  }
  await host.close(writer.closed.aborted ? 0 : parts.signal.aborted ? hurryMs : answerMs);
  await writer.flushed(flushMs);
  clearTimeout(leaving);
  over.removeEventListener("abort", leave);
}

const helloOf = (
  { version, engine }: { version: string; engine: "own" | "server" },
  limits: StdioLimits,
): stdio.HelloLine => ({
  hello: {
    protocol: stdio.PROTOCOL,
    product: "tandem",
    version,
    engine,
    capabilities: {
      methods: [...OWN_METHODS, ...methods.keys()].toSorted(),
      streams: [...methods.values()].filter(({ kind }) => kind === "stream").map(({ name }) => name),
    },
    limits: { line_bytes: limits.lineBytes, requests: limits.requests, streams: limits.streams },
  },
});
