import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Stage } from "../../testing/claude-stage.ts";
import type { TranslatorInput } from "../translate/translator-input.ts";
import { startMcpServer } from "./mcp-server.ts";
import { neutralise } from "./neutralise.ts";
import { openSession } from "./open-session.ts";
import type { RecordingHead } from "./replay.ts";
import type { Scenario } from "./scenario.ts";

/** Runs a scenario with the real Claude Code and returns the translator's input as lines of a recording. */
export async function record(stage: Stage, scenario: Scenario): Promise<string[]> {
  await using mcp = await startMcpServer();
  const { setup = {}, decisions = {} } = scenario;
  const inputs: TranslatorInput[] = [];
  const folder = join(stage.home, "project");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  scenario.prepare?.(folder);
  stage.rehearsal.use(scenario.script);
  const session = openSession(stage, {
    ...setup,
    mcpServers: (setup.mcpServers ?? []).map((server) => ({ ...server, url: server.url.replace(/^mcp:$/, mcp.url) })),
    host: { decide: ({ name }) => ({ permission: decisions[name] ?? "allow" }), ...setup.host },
    recording: { ...scenario.beyond, onInput: (input) => inputs.push(input) },
  });
  try {
    await (scenario.drive ?? ((open) => open.turn("Go.")))(session);
  } finally {
    await session.conversation.close();
  }
  const head: RecordingHead = {
    names: { customServer: "tandem", mcpServers: session.setup.mcpServers.map(({ name }) => name) },
    tools: [
      ...session.setup.tools,
      ...(session.setup.outputSchema || session.setup.workflows ? ["StructuredOutput"] : []),
    ],
    outputExpected: session.setup.outputSchema !== undefined,
    decisions,
  };
  const { home } = stage;
  return neutralise([head, ...inputs.flatMap(worthKeeping)], {
    [folder]: "/project",
    [home]: "/home",
    [join(home, "..")]: "/stage",
    [mcp.url]: "http://eyes/mcp",
  });
}

/** The translator reads only the usage from transcript lines, except those of agents in a workflow run. */
function worthKeeping(input: TranslatorInput): TranslatorInput[] {
  if (input.type !== "transcript") return [input];
  const { type, message } = input.line as { type: string; message?: Record<string, unknown> };
  if (input.leaf) return type === "attachment" ? [] : [input];
  return type === "assistant" ? [{ type: "transcript", line: { type, message: { ...message, content: [] } } }] : [];
}
