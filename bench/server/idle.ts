import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { startRehearsal } from "@tandem/rehearsal";
import { z } from "zod";
import { processStats } from "../../apps/cli/src/testing/process-stats.ts";
import { benchMachine } from "./machine.ts";
import { installOpencode, OPENCODE } from "./opencode.ts";
import { count, ratio, type Figure, type Section } from "./report.ts";

const SETTLE_MS = 5_000;
/** Measured once of opencode 1.18.18 on linux arm64, for where it cannot be run. */
const QUOTED_RSS_MB = 324;
/** A network of its own, in which there is nothing but loopback. */
const ALONE = ["unshare", ["--map-root-user", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]] as const;

const vitals = z.object({ rssMb: z.number(), pssMb: z.number() });
const both = z.object({ started: vitals, asked: vitals });
type Both = z.infer<typeof both>;

/** Cost of an idle server. */
export async function idle(folder: string): Promise<Section[]> {
  console.error("idle: tandem up …");
  const ours = await measureTandem();
  const peer = await measureOpencode(folder);
  if (peer) {
    const figures = [
      figure("RSS after start, MB", ours.started.rssMb, peer.started.rssMb),
      figure("PSS after start, MB", ours.started.pssMb, peer.started.pssMb),
      figure("RSS after a list of models, MB", ours.asked.rssMb, peer.asked.rssMb),
      figure("PSS after a list of models, MB", ours.asked.pssMb, peer.asked.pssMb),
    ];
    return [{ title: "idle", peer: `${OPENCODE} serve`, figures }];
  }
  const figures: Figure[] = [
    figure("RSS after start, MB", ours.started.rssMb, QUOTED_RSS_MB),
    { what: "PSS after start, MB", value: count(ours.started.pssMb) },
    { what: "RSS after a list of models, MB", value: count(ours.asked.rssMb) },
    { what: "PSS after a list of models, MB", value: count(ours.asked.pssMb) },
  ];
  return [{ title: "idle", peer: "opencode 1.18.18 serve, quoted: it could not be run here", figures }];
}

const figure = (what: string, ours: number, theirs: number): Figure => ({
  what,
  value: count(ours),
  peer: count(theirs),
  ratio: ratio(ours, theirs),
});

async function measureTandem(): Promise<Both> {
  await using rehearsal = await startRehearsal([]);
  await using machine = await benchMachine(rehearsal.url);
  await using server = await machine.up();
  await sleep(SETTLE_MS);
  const started = processStats(server.child.pid!);
  const response = await fetch(`${server.url}/v1/models`, { headers: { authorization: `Bearer ${server.token}` } });
  const body = await response.text();
  if (!response.ok) throw new Error(body);
  await sleep(SETTLE_MS);
  return { started, asked: processStats(server.child.pid!) };
}

async function measureOpencode(folder: string): Promise<Both | undefined> {
  if (!installOpencode()) return undefined;
  const home = join(folder, "opencode");
  await mkdir(home);
  console.error(`idle: ${OPENCODE} …`);
  const [command, args] = ALONE;
  const script = [process.execPath, join(import.meta.dirname, "opencode.ts"), home];
  try {
    const { stdout } = await promisify(execFile)(command, [...args, ...script], {
      env: { PATH: process.env["PATH"] ?? "", HOME: home },
      timeout: 120_000,
    });
    return both.parse(JSON.parse(stdout));
  } catch (error) {
    console.error(`It cannot be run alone with loopback here: ${String(error)}`);
    return undefined;
  }
}
