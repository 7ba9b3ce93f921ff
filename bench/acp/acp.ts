import { spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { findExecutable } from "@tandem/claude-code";
import { always, slowly, startRehearsal, text, when } from "@tandem/rehearsal";
import { buildPackage } from "../../scripts/build-package.ts";
import { benchMachine } from "../server/machine.ts";
import { othersCpuSeconds } from "../server/others-cpu.ts";
import { quantile, ratio, report } from "../server/report.ts";
import { findPeer, PEER } from "./peer.ts";
import { SLOW, acpTalk, type Figures } from "./acp-talk.ts";

// `tandem acp` beside the peer, by turns, in one run: the same Claude Code, the same rehearsed model, a fresh process each
// time. The first visit of each is not counted: it fills caches.

const KEY = "sk-ant-made-up";

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { rounds: { type: "string", default: "7" } } });
  const peer = await findPeer();
  // Both as they are installed: built.
  const dist = join(import.meta.dirname, "..", "..", "dist");
  await buildPackage(dist);
  const tandem = join(dist, "bin", "tandem.mjs");
  await using rehearsal = await startRehearsal([
    always(
      when((request) => JSON.stringify(request.messages.at(-1)).includes(SLOW), slowly(text(LONG), { tokenMs: 200 })),
    ),
    always(text("Hello from the rehearsal.")),
  ]);
  await using machine = await benchMachine(rehearsal.url);
  const home = machine.folder.join("peer-home");
  await mkdir(join(home, ".claude"), { recursive: true });
  const { PATH, TMPDIR, LANG, NO_PROXY, NODE_COMPILE_CACHE } = machine.variables;
  const contenders = {
    tandem: () => machine.start(["acp"], { env: { SESSION_KEY: KEY }, tandem }),
    [PEER]: () =>
      spawn(process.execPath, [peer], {
        cwd: machine.project,
        env: {
          PATH,
          TMPDIR,
          LANG,
          NO_PROXY,
          NODE_COMPILE_CACHE,
          HOME: home,
          CLAUDE_CONFIG_DIR: join(home, ".claude"),
          CLAUDE_CODE_EXECUTABLE: findExecutable(undefined),
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
          ANTHROPIC_API_KEY: KEY,
          ANTHROPIC_BASE_URL: rehearsal.url,
        },
        stdio: ["pipe", "pipe", "pipe"],
      }),
  };
  const seen: Record<string, Figures[]> = {};
  const before = { others: othersCpuSeconds(), at: performance.now() };
  for (let round = 0; round <= Number(values.rounds); round += 1) {
    for (const [name, start] of Object.entries(contenders)) {
      const figures = await acpTalk(start, machine.project);
      if (round > 0) (seen[name] ??= []).push(figures);
      console.error(
        `${round === 0 ? "warm-up" : `round ${round}`}, ${name}: ${Math.round(figures["cold start to session/new"])} ms`,
      );
    }
  }
  const otherCores = (othersCpuSeconds() - before.others) / ((performance.now() - before.at) / 1_000);
  report({ command: "npm run bench acp", otherCores }, [section(seen["tandem"]!, seen[PEER]!)]);
}

const LONG = "A long answer that nobody is going to hear to its end, because they think of something else. ".repeat(5);

function section(ours: readonly Figures[], theirs: readonly Figures[]) {
  const names = Object.keys(ours[0]!) as (keyof Figures)[];
  return {
    title: "an editor's visit, median",
    peer: `${PEER.split("/")[1]} 0.99.1`,
    figures: names.map((name) => {
      const [own, other] = [ours, theirs].map((all) =>
        quantile(
          all.map((each) => each[name]),
          0.5,
        ),
      ) as [number, number];
      const unit = name.includes("MB") ? " MB" : " ms";
      return {
        what: name,
        value: `${Math.round(own)}${unit}`,
        peer: `${Math.round(other)}${unit}`,
        ratio: ratio(own, other),
      };
    }),
  };
}
