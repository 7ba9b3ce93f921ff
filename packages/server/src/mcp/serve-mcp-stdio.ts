import type { Readable, Writable } from "node:stream";
import { setImmediate, setTimeout } from "node:timers/promises";
import type { McpServerOptions } from "./create-mcp-server.ts";

/** Time to finish requests after the client closed its end. */
const LAST_ANSWERS_MS = 10_000;

/** Serves MCP on stdin and stdout until the client closes its end. Nothing else may write to stdout meanwhile. */
export async function serveMcpStdio(
  parts: McpServerOptions & { stdin: Readable; stdout: Writable; signal: AbortSignal },
): Promise<void> {
  const { stdin, stdout, signal, tools } = parts;
  const running = new Set<Promise<unknown>>();
  const [{ createMcpServer }, { StdioServerTransport }] = await Promise.all([
    import("./create-mcp-server.ts"),
    import("@modelcontextprotocol/sdk/server/stdio.js"),
  ]);
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
  // A client that pipes requests in closes stdin before the responses are ready.
  const finish = async () => {
    await setImmediate();
    await Promise.race([Promise.allSettled(running), setTimeout(LAST_ANSWERS_MS, undefined, { ref: false })]);
    await setImmediate();
    close();
  };
  stdin.once("end", () => void finish()).once("close", () => void finish());
  // The client exited; responses can no longer arrive.
  stdout.once("error", close);
  signal.addEventListener("abort", close, { once: true });
  await server.connect(new StdioServerTransport(stdin, stdout));
  if (signal.aborted) close();
  await ended.promise;
}
