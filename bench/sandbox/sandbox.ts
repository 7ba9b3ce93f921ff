import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findExecutable, openConversation, ProcessLedger } from "@tandem/claude-code";
import type { LoggedEvent, SessionId } from "@tandem/protocol";
import { always, startRehearsal, text, toolUse } from "@tandem/rehearsal";
import { createEngine, type Engine } from "@tandem/sessions";
import { openStore, type Store } from "@tandem/storage";
import { pssMb } from "../runtime/process-tree.ts";

const ROUNDS = 15;
const DEADLINE_MS = 60_000;
const LIMITS = { start: 1.15, turn: 1.1, memory: 1.05 };
const MODES = ["off", "require"] as const;

type Mode = (typeof MODES)[number];
type Figures = Record<keyof typeof LIMITS, number>;

/**
 * Cost of the sandbox for a session: from its creation to the first answer, a turn with one shell command, and memory. With
 * and without it, alternating. `--rounds N` sets the number of rounds.
 */
export async function run(args: string[]): Promise<void> {
  const rounds = args.includes("--rounds") ? Number(args[args.indexOf("--rounds") + 1]) : ROUNDS;
  const root = await mkdtemp(join(tmpdir(), "tandem-bench-"));
  await using rehearsal = await startRehearsal([
    always(({ lastUserText }) => (lastUserText === "Run" ? toolUse("Bash", { command: "echo ran" }) : text("Done."))),
  ]);
  const seen: Record<Mode, Figures[]> = { off: [], require: [] };
  try {
    const stages = { off: await open(root, rehearsal.url, "off"), require: await open(root, rehearsal.url, "require") };
    // The first process of each reads the executable from the disk.
    for (const mode of MODES) await measure(stages[mode]);
    for (let round = 0; round < rounds; round += 1) {
      const order = round % 2 === 0 ? MODES : MODES.toReversed();
      for (const mode of order) seen[mode].push(await measure(stages[mode]));
      console.error(`round ${round + 1} of ${rounds}`);
    }
    for (const { engine, store } of Object.values(stages)) {
      await engine.stop(0);
      await store[Symbol.asyncDispose]();
    }
  } finally {
    await rm(root, { recursive: true, force: true });
  }
  for (const [name, limit] of Object.entries(LIMITS) as [keyof Figures, number][]) {
    const [bare, inside] = MODES.map((mode) => median(seen[mode].map((figures) => figures[name])));
    const ratio = inside! / bare!;
    const unit = name === "memory" ? "MB" : "ms";
    const verdict = ratio <= limit ? "within" : "over";
    console.log(
      `${name.padEnd(8)} without ${bare!.toFixed(0)} ${unit}, with ${inside!.toFixed(0)} ${unit}: × ${ratio.toFixed(3)} (${verdict} ${limit}; medians of ${rounds})`,
    );
  }
}

interface BenchStage {
  engine: Engine;
  store: Store;
  agent: string;
}

async function open(root: string, url: string, mode: Mode): Promise<BenchStage> {
  const place = join(root, mode);
  const [project, stateFolder, home] = ["project", "state", "home"].map((name) => join(place, name));
  for (const folder of [project!, stateFolder!, home!]) await mkdir(folder, { recursive: true });
  const store = await openStore(join(place, "tandem.db"));
  const ledger = new ProcessLedger(join(stateFolder!, "processes"));
  const engine = await createEngine(store, {
    executable: findExecutable(undefined),
    credential: async () => ({ type: "api_key", key: "sk-ant-made-up-key", baseUrl: url }),
    hostVariables: { PATH: process.env["PATH"], HOME: home, TMPDIR: place, NO_PROXY: "127.0.0.1" },
    stateFolder: stateFolder!,
    deadlines: { spawn: DEADLINE_MS, init: DEADLINE_MS, firstByte: DEADLINE_MS, idle: DEADLINE_MS, exit: 2_000 },
    idle: DEADLINE_MS,
    recovery: "stop",
    leaseTtl: DEADLINE_MS,
    holder: mode,
    mcpTimeout: DEADLINE_MS,
    roots: [project!],
    models: async () => [{ id: "claude-sonnet-5-5", name: "Sonnet 5.5", aliases: ["sonnet"] }],
    openConversation,
    sweep: () => ledger.sweep(),
    log: { warn: (details, message) => console.error(message, details) },
    sandbox: { mode },
  });
  await engine.start();
  const { id } = await engine.agents.create({
    name: "bench",
    model: "sonnet",
    tools: [{ type: "agent_toolset_20260401", default_config: { permission_policy: { type: "always_allow" } } }],
  });
  return { engine, store, agent: id };
}

/** One new session with two turns; its process ends with it. */
async function measure({ engine, store, agent }: BenchStage): Promise<Figures> {
  const begin = performance.now();
  const { id } = await engine.sessions.create({ agent, environment_id: "env_local" });
  const say = async (words: string): Promise<void> => {
    const head = await engine.sessions.head(id);
    await engine.sessions.send(id, [{ type: "user.message", content: [{ type: "text", text: words }] }]);
    await until(store, id as SessionId, head, ({ event }) => event.type === "session.status_idle");
  };
  await say("Start");
  const start = performance.now() - begin;
  const middle = performance.now();
  await say("Run");
  const turn = performance.now() - middle;
  const memory = pssMb();
  await engine.sessions.archive(id);
  return { start, turn, memory };
}

async function until(
  store: Store,
  session: SessionId,
  after: number,
  fits: (logged: LoggedEvent) => boolean,
): Promise<void> {
  for await (const batch of store.events.follow(session, after, AbortSignal.timeout(DEADLINE_MS))) {
    if (batch.some(fits)) return;
  }
  throw new Error("The turn did not end.");
}

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
