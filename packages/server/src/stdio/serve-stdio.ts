import type { Readable, Writable } from "node:stream";
import type { Logger } from "../http/create-logger.ts";
import { readLines } from "./line-reader.ts";
import { LineWriter } from "./line-writer.ts";
import { defaultLimits, PROTOCOL, type StdioLimits } from "./lines.ts";
import { methods, OWN_METHODS } from "./methods.ts";
import { StdioHost } from "./stdio-host.ts";
import type { Wire } from "./wire.ts";

const DEADLINES = {
  /** Requests that are under way when a host closes its end are answered for so long. */
  answerMs: 10_000,
  /** When the process is to end, for whatever other reason. */
  hurryMs: 2_000,
  flushMs: 2_000,
};

/**
 * Serves the API to one host, a line of JSON for each request, answer and event, until the host closes its end, is gone, or
 * the signal fires. Resolves when everything that was asked has been answered or cut off.
 */
export async function serveStdio(parts: {
  wire: Wire;
  stdin: Readable;
  stdout: Writable;
  version: string;
  /** Whose engine answers: that of this process, or a server's. */
  engine: "own" | "server";
  signal: AbortSignal;
  logger: Pick<Logger, "info">;
  limits?: Partial<StdioLimits>;
  deadlines?: Partial<typeof DEADLINES>;
}): Promise<void> {
  const limits = { ...defaultLimits, ...parts.limits };
  const { answerMs, hurryMs, flushMs } = { ...DEADLINES, ...parts.deadlines };
  const writer = new LineWriter(parts.stdout);
  const onHello = (client: string | undefined) => parts.logger.info({ client }, "a host said hello");
  const host = new StdioHost({ wire: parts.wire, writer, limits, onHello });
  const over = AbortSignal.any([parts.signal, writer.closed]);
  await writer.write(JSON.stringify(helloOf(parts, limits)));
  // A host that is not there any more, or asks for nothing more, is not waited for until it reads: another may hold its pipe.
  let leaving: NodeJS.Timeout | undefined;
  const leave = (): void => {
    leaving ??= setTimeout(() => writer.abandon(), (over.aborted ? hurryMs : answerMs) + flushMs);
  };
  over.addEventListener("abort", leave, { once: true });
  const lines = readLines(parts.stdin, limits.lineBytes, over);
  for (let next = lines.next(); ;) {
    const line = await next;
    if (line.done || over.aborted) break;
    // One line ahead: so the end is seen also while a host that does not read holds up what is before it.
    next = lines.next();
    void next.then(({ done }) => done && leave());
    await host.receive(line.value);
    // A host that does not read is not read from either: what it asks for would only pile up.
    await writer.ready();
  }
  await host.close(writer.closed.aborted ? 0 : parts.signal.aborted ? hurryMs : answerMs);
  await writer.flushed(flushMs);
  clearTimeout(leaving);
  over.removeEventListener("abort", leave);
}

const helloOf = ({ version, engine }: { version: string; engine: "own" | "server" }, limits: StdioLimits) => ({
  hello: {
    ...{ protocol: PROTOCOL, product: "tandem", version, engine },
    capabilities: {
      methods: [...OWN_METHODS, ...methods.keys()].toSorted(),
      streams: [...methods.values()].filter(({ kind }) => kind === "stream").map(({ name }) => name),
    },
    limits: { line_bytes: limits.lineBytes, requests: limits.requests, streams: limits.streams },
  },
});
