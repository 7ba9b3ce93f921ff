import { asCalled } from "../../called-as.ts";
import { configSchema, type CallReport } from "@tandem/protocol";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Invocation } from "../../invocation.ts";
import { busyAct, fastAct, loopAct, objectAct, textAct } from "../../demo/acts.ts";
import { Narrator } from "../../demo/narrator.ts";
import { createRehearsedModel } from "../../demo/rehearsed-model.ts";
import { styleFor, writeJson } from "../../terminal.ts";
import type { Command } from "commander";
import type { Registration } from "../registration.ts";

export function register(command: Command, { examples, json, runner }: Registration): void {
  command.addOption(json()).action(runner(demo));
  examples(command, "tandem demo");
  const onContext = command
    .command("context")
    .description("Watch a catalogue and a wiki being made of a sample database and documents; nothing is spent.")
    .helpOption("-h, --help", "print help")
    .argument("[folder]", "where to make the project, new or empty (default: a temporary folder)")
    .option("--no-open", "end without a server and its page")
    .addOption(json())
    .action(
      runner(async (invocation, folder: string | undefined, options: { open: boolean }) =>
        (await import("./demo-context/demo-context.ts")).demoContext(invocation, folder, options),
      ),
    );
  examples(onContext, "tandem demo context", "tandem demo context ~/harbour-bikes");
  const reset = command
    .command("reset")
    .description("Restore the shop of `tandem up --demo`: its sessions, files and context.")
    .helpOption("-h, --help", "print help")
    .action(runner(async (invocation) => (await import("../../demo/seed/reset-demo.ts")).resetDemo(invocation)));
  examples(reset, "tandem demo reset");
}

/**
 * Runs the real Claude Code binary with a scripted model. Spends nothing, sends nothing over the network, and neither reads nor
 * changes the user's files. All state is in a scratch folder that is deleted at the end.
 */
export async function demo(invocation: Invocation): Promise<void> {
  const { startRehearsal } = await import("@tandem/rehearsal");
  const { createBackend, createRuntime, defineTool } = await import("@tandem/runtime");
  const folder = await mkdtemp(join(tmpdir(), "tandem-demo-"));
  const rehearsal = await startRehearsal(createRehearsedModel());
  const narrator = new Narrator(invocation.json ? invocation.stderr : invocation.stdout);
  const style = styleFor(invocation.stdout);
  const reports: CallReport[] = [];
  const { llm } = configSchema.parse({
    llm: { provider: { backend: "claude-code" }, claudeCode: { auth: "api_key", baseUrl: rehearsal.url } },
  });
  try {
    const backend = await createBackend(llm, {
      readSecret: async () => "sk-ant-rehearsed",
      stateFolder: folder,
      hostVariables: { PATH: invocation.env["PATH"], HOME: folder, TMPDIR: folder, LANG: invocation.env["LANG"] },
    });
    const runtime = createRuntime({ config: llm, backend, sink: (report) => void reports.push(report) });
    const close = (): void => void runtime.close();
    invocation.signal.addEventListener("abort", close, { once: true });
    narrator.line(style.bold("The real Claude Code, a rehearsed model"));
    narrator.line(
      `The model's API is played by a stand-in at ${rehearsal.url}. Nothing is spent, and nothing leaves this machine.`,
    );
    try {
      for (const act of [textAct, objectAct, loopAct, busyAct, fastAct]) {
        await act({ runtime, narrator, rehearsal, defineTool });
        if (act !== fastAct) narrator.took(reports.at(-1)!);
      }
    } finally {
      invocation.signal.removeEventListener("abort", close);
      await runtime.close();
    }
    rehearsal.assertDone();
    const offered = new Set(rehearsal.modelRequests.flatMap(({ toolNames }) => toolNames));
    const others = rehearsal.requests.length - rehearsal.modelRequests.length;
    const left = (await readdir(join(folder, "processes"))).length;
    narrator.title("What reached the wire, and what is left");
    narrator.note(`${rehearsal.modelRequests.length} model requests and ${others} others, all to 127.0.0.1`);
    narrator.note(`tools offered to the model: ${[...offered].join(", ")}`);
    narrator.note(`Claude Code processes still running: ${left}`);
    narrator.line();
    narrator.line(
      asCalled('Next: `tandem setup` to use it with your own Claude Code login or an API key, then `tandem text "…"`.'),
    );
    if (invocation.json) await writeJson(invocation.stdout, { calls: reports });
  } finally {
    await rehearsal.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }
}
