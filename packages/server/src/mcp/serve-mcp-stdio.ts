import type { Readable, Writable } from "node:stream";
import { setImmediate, setTimeout } from "node:timers/promises";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { createMcpServer, type McpServerParts } from "./create-mcp-server.ts";

/** For what was asked before the client closed its end. */
const LAST_ANSWERS_MS = 10_000;

/** MCP on stdin and stdout, until the client closes its end. Nothing else may write to stdout meanwhile. */
export async function serveMcpStdio(
  parts: McpServerParts & { stdin: Readable; stdout: Writable; signal: AbortSignal },
): Promise<void> {
  const { stdin, stdout, signal, tools } = parts;
  const running = new Set<Promise<unknown>>();
  const server = createMcpServer({
    ...parts,
    tools: tools.map((tool) => ({
      ...tool,
      run: (input, caller) => {
        const work = tool.run(input, caller);
        running.add(work);
        return work.finally(() => running.delete(work));
      },
    })),
  });
  const ended = Promise.withResolvers<void>();
  server.server.onclose = () => ended.resolve();
  const close = () => void server.close().then(ended.resolve, ended.reject);
  // Whoever pipes questions in closes its end before there are answers.
  const finish = async () => {
    await setImmediate();
    await Promise.race([Promise.allSettled(running), setTimeout(LAST_ANSWERS_MS, undefined, { ref: false })]);
    await setImmediate();
    close();
  };
  stdin.once("end", () => void finish()).once("close", () => void finish());
  // A client that has gone without a word: what is written to it cannot arrive.
  stdout.once("error", close);
  signal.addEventListener("abort", close, { once: true });
  await server.connect(new StdioServerTransport(stdin, stdout));
  if (signal.aborted) close();
  await ended.promise;
}
