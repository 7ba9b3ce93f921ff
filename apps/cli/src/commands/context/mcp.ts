import { userInfo } from "node:os";
import { loadServer } from "@tandem/tandem/compose";
import type { Invocation } from "../../invocation.ts";
import { withKnowledge } from "../../with-knowledge.ts";
import type { Command } from "commander";
import { subcommandsOf, type Registration } from "../registration.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  command.action((_options: object, self: Command) => runner(self, (invocation) => mcp(invocation)));
  examples(command, "tandem mcp", "claude mcp add tandem -- tandem mcp --project ~/shop");
  const sub = subcommandsOf(command);
  examples(
    sub("servers", "Show the MCP servers that sessions have met, and what they say of their tools.")
      .argument("[server]", "one of them, by id or name: with its tools in full")
      .addOption(json())
      .action((id: string | undefined, _options: object, self: Command) =>
        runner(self, async (invocation) => (await import("./mcp-servers.ts")).servers(invocation, id)),
      ),
    "tandem mcp servers",
    "tandem mcp servers github",
  );
  examples(
    sub("accept", "Accept what a server says of its tools now; until then its calls are asked for.")
      .argument("<server>", "by id or name")
      .option("-y, --yes", "ask nothing")
      .addOption(json())
      .action((id: string, options: { yes?: boolean }, self: Command) =>
        runner(self, async (invocation) => (await import("./mcp-servers.ts")).accept(invocation, id, options)),
      ),
    "tandem mcp accept github",
  );
}

/** Time to interrupt jobs. The next process that needs them resumes them. */
const STOP_MS = 3_000;

/** Serves the context to one client over stdin and stdout until it disconnects. */
export async function mcp(invocation: Invocation): Promise<number> {
  const { stdin, stdout, stderr, signal, version } = invocation;
  if (stdin.isTTY) stderr.write("Speaks MCP on standard input and output: meant to be started by an MCP client.\n");
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
      by: userInfo().username,
      onFailure: (tool, error) => stderr.write(`${tool}: ${String(error)}\n`),
    });
  });
  return 0;
}
