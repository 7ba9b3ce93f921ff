import { userInfo } from "node:os";
import { loadServer } from "@tandem/tandem/compose";
import type { Context } from "../context.ts";
import { withKnowledge } from "../knowledge.ts";

/** To interrupt what was started; it goes on with the next who asks for it. */
const STOP_MS = 3_000;

/** Serves the context to one client on stdin and stdout, until it closes its end. */
export async function mcp(context: Context): Promise<number> {
  const { stdin, stdout, stderr, signal, version } = context;
  if (stdin.isTTY) stderr.write("Speaks MCP on standard input and output: meant to be started by an MCP client.\n");
  context.allowToStop(STOP_MS);
  await withKnowledge(context, "tandem mcp", async ({ tools, desk }) => {
    // What agents have handed in is short work, and often the last thing that a client asks for before it goes.
    const onFailure = (error: unknown) => stderr.write(`remember: ${String(error)}\n`);
    void desk.resume(["remember"]).catch(onFailure);
    const { serveMcpStdio } = await loadServer();
    await serveMcpStdio({
      ...{ tools, version, stdin, stdout, signal },
      by: userInfo().username,
      onFailure: (tool, error) => stderr.write(`${tool}: ${String(error)}\n`),
    });
  });
  return 0;
}
