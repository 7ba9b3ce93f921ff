import { userName } from "@tandem/tandem/project";
import { loadServer } from "@tandem/tandem/compose";
import type { Invocation } from "../../invocation.ts";
import { withKnowledge } from "../../with-knowledge.ts";
import type { Command } from "commander";
import type { Registration } from "../registration.ts";

export function register(command: Command, { examples, runner }: Registration): void {
  command.action(runner(mcp));
  examples(command, "tandem mcp", "claude mcp add tandem -- tandem mcp --project ~/shop");
}

/** Time to interrupt jobs. The next process that needs them resumes them. */
const STOP_MS = 3_000;

/** Serves the context to one client over stdin and stdout until it disconnects. */
export async function mcp(invocation: Invocation): Promise<number> {
  const { stdin, stdout, stderr, signal, version } = invocation;
  if (stdin.isTTY) stderr.write("This is an MCP server on stdin and stdout. Start it from an MCP client.\n");
  invocation.allowToStop(STOP_MS);
  await withKnowledge(invocation, "tandem mcp", async ({ tools, jobRunner }) => {
    // Finish submitted memories: they take little time and are often a client's last request.
    const onFailure = (error: unknown) => stderr.write(`remember: ${String(error)}\n`);
    void jobRunner.resume(["remember"]).catch(onFailure);
    const { serveMcpStdio } = await loadServer();
    await serveMcpStdio({
      tools,
      version,
      stdin,
      stdout,
      signal,
      by: userName(),
      onFailure: (tool, error) => stderr.write(`${tool}: ${String(error)}\n`),
    });
  });
  return 0;
}
