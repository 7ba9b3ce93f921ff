import { parseArgs } from "node:util";
import { outcomeOf } from "../../apps/cli/src/testing/open-command.ts";
import { othersCpuSeconds } from "../server/others-cpu.ts";
import { approval } from "./approval.ts";
import { commands, runCommand } from "./commands.ts";
import { firstMessage } from "./first-message.ts";
import { measureGrowth, reportGrowth } from "./growth-report.ts";
import { liveSessions, storedSessions } from "./many-sessions.ts";
import type { Measurement } from "./measurement.ts";
import { resume } from "./resume.ts";
import type { BareSample, Sample } from "./sample.ts";
import { reportHead, reportRows } from "./report-rows.ts";
import { serverStart } from "./server-start.ts";
import { setStage, type Stage } from "./stage.ts";
import { turns } from "./turns.ts";

const MEASUREMENTS: Record<string, Measurement> = {
  messages: firstMessage,
  resume,
  approval,
  run: runCommand,
  server: serverStart,
  stored: storedSessions,
  live: liveSessions,
  turns,
  commands,
};

const GROWTH = "growth";
const NAMES = [...Object.keys(MEASUREMENTS), GROWTH];

const USAGE = `npm run bench session [-- NAMES] [--rounds N] [--package FOLDER]

Without names all of: ${NAMES.join(", ")}. One alone: npm run bench session messages -- --rounds 3
--rounds N        samples of every row; the median counts (default 5, after one for warm-up)
--package FOLDER  a built package (default: builds the sources)

Rows of other benches: statements per turn in a fleet (npm run bench fleet turns 1), an editor's cold start (npm run bench acp),
keys and deep links of the page (npm run bench page whole).`;

/** Sessions, the server and the command as installed, beside bare calls of the Agent SDK in the same run. */
export async function run(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      rounds: { type: "string", default: "5" },
      package: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  const unknown = positionals.filter((name) => !NAMES.includes(name));
  if (unknown.length > 0 || values.help) {
    console.error(unknown.length > 0 ? `There is no measurement ${unknown.join(", ")}.\n\n${USAGE}` : USAGE);
    process.exitCode = 2;
    return;
  }
  const isWanted = (name: string): boolean => positionals.length === 0 || positionals.includes(name);
  await using stage = await setStage(values.package);
  const before = { others: othersCpuSeconds(), at: performance.now() };
  const measured = [];
  for (const [name, measurement] of Object.entries(MEASUREMENTS)) {
    if (isWanted(name)) measured.push(await measure(name, measurement, stage, Number(values.rounds)));
  }
  const growth = isWanted(GROWTH) ? await measureGrowth(stage) : [];
  const otherCores = (othersCpuSeconds() - before.others) / ((performance.now() - before.at) / 1_000);
  const command = ["npm run bench session", ...args].join(" ");
  reportHead({ command, sandbox: await sandboxState(stage), otherCores }, measured);
  reportRows(measured);
  reportGrowth(growth);
}

async function measure(name: string, measurement: Measurement, stage: Stage, wanted: number) {
  const rounds = Math.min(wanted, measurement.maxRounds ?? wanted);
  const samples: Record<string, Sample[]> = {};
  const bare: BareSample[] = [];
  await using running = await measurement.open(stage);
  for (let round = 0; round <= rounds; round += 1) {
    const call = await stage.bare.call();
    const found = await running.round();
    const values = Object.entries(found).map(([key, sample]) => `${key} ${Math.round(sample!.value)}`);
    console.error(
      `${name}, ${round === 0 ? "warm-up" : `round ${round} of ${rounds}`}: bare ${Math.round(call.value)}, ${values.join(", ")}`,
    );
    if (round === 0) continue;
    bare.push(call);
    for (const [key, sample] of Object.entries(found)) (samples[key] ??= []).push(sample!);
  }
  return { measurement, samples, bare };
}

async function sandboxState(stage: Stage): Promise<string> {
  await using machine = await stage.machine();
  const child = machine.start(["status"]);
  child.stdin?.end();
  return /^sandbox +(.*)$/m.exec((await outcomeOf(child)).stdout)?.[1] ?? "unknown";
}
