import { readFileSync } from "node:fs";
import { chmod, chown, cp, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { checkHealth, ClockStep, type ProcessPlan, SmallDisk, type SystemPlan } from "@tandem/crash-test";
import { TANDEM } from "../../apps/cli/src/testing/run-tandem.ts";
import { BootId } from "./boot-id.ts";
import { busyWorkers } from "./faults/busy-workers.ts";
import { type MachineName, SERVERS, uidOf, VOLUME_WORKERS, WORKERS } from "./lab-machines.ts";
import type { LabNetwork } from "./lab-network.ts";
import { startLabPgBouncer } from "./lab-pgbouncer.ts";
import { startLabPostgres } from "./lab-postgres.ts";
import type { LabFolder, LabSettings } from "./lab-settings.ts";
import { createShop, homeVariables, SHOP, writeTemplates } from "./lab-templates.ts";
import { machineCommand } from "./machine-command.ts";
import { type LabService, startService } from "./lab-service.ts";

const START_MS = 120_000;
const PORT = 4760;
const VOLUME = "shared";
const HAPROXY_FILE = join(import.meta.dirname, "..", "..", "deploy", "haproxy", "haproxy.cfg");

export interface Lab {
  plan: SystemPlan;
  database: Awaited<ReturnType<typeof startLabPostgres>>;
  haproxy: LabService;
  pgbouncer: LabService | undefined;
  /** The machines that processes connect to as their database. */
  databases: readonly MachineName[];
  clocks: ReadonlyMap<MachineName, ClockStep>;
  boots: ReadonlyMap<MachineName, BootId>;
  disks: ReadonlyMap<MachineName, SmallDisk | string>;
  /** Its sessions can move between the workers that mount the volume. */
  volumeEnvironment: { name: string; metadata: Record<string, string> };
  /** The project of each worker, on its own disk. */
  projectFolder: string;
  /** Where the observer sees the working folder of that environment. */
  workFolder: string;
}

/** A fleet on machines of its own: servers behind HAProxy, workers, a database. Clients, model and sink are in `client`. */
export async function createLab(
  network: LabNetwork,
  stage: LabFolder,
  parts: AsyncDisposableStack,
  settings: LabSettings,
): Promise<Lab> {
  await chmod(stage.folder, 0o755);
  await chmod(join(stage.folder, "effects"), 0o777);
  const database = parts.use(await startLabPostgres(network));
  const pgbouncer = settings.hasPgBouncer ? parts.use(await startLabPgBouncer(network)) : undefined;
  const haproxy = parts.use(await startService(network, "haproxy", ["/usr/sbin/haproxy", "-db", "-f", HAPROXY_FILE]));
  // Beside the folder of the run, which is removed before these disks are unmounted.
  const machines = `${stage.folder}-machines`;
  const local = join(stage.folder, "local");
  const volume = join(stage.folder, "volume");
  const volumeDisk = join(stage.folder, "volume-disk");
  for (const folder of [local, volume, volumeDisk, join(volumeDisk, "work")]) await mkdir(folder);
  if (settings.context === "volume") createShop(join(volumeDisk, SHOP));
  await giveTo(volumeDisk, uidOf(VOLUME_WORKERS[0]));
  const templates = await writeTemplates(stage, { local, volume, settings });
  const clocks = new Map<MachineName, ClockStep>();
  const boots = new Map<MachineName, BootId>();
  const disks = new Map<MachineName, SmallDisk | string>();
  const variablesOf = (machine: MachineName): Record<string, string> => ({
    ...boots.get(machine)?.addTo(clocks.get(machine)?.variables ?? {}),
    ...homeVariables(local, stage),
    TEST_DATABASE: pgbouncer?.pooled(database.url) ?? database.url,
    TEST_DIRECT: database.url,
  });

  const member = async (machine: MachineName, role: ProcessPlan["role"], args: readonly string[]) => {
    const own = join(machines, machine);
    const disk = await SmallDisk.mount(own);
    if (typeof disk !== "string") parts.use(disk);
    disks.set(machine, disk);
    const hasContext = settings.context === "servers" ? role === "server" : VOLUME_WORKERS.includes(machine);
    await cp(hasContext ? templates.context : templates.plain, own, { recursive: true });
    const clockFolder = join(stage.folder, "clocks", machine);
    await mkdir(clockFolder, { recursive: true });
    clocks.set(machine, await ClockStep.create(clockFolder));
    boots.set(machine, await BootId.create(clockFolder));
    for (const folder of [own, clockFolder]) await giveTo(folder, uidOf(machine));
    const hasVolume = VOLUME_WORKERS.includes(machine);
    const mounts = [[own, local] as const, ...(hasVolume ? [[volumeDisk, volume] as const] : [])];
    const command = [process.execPath, TANDEM, "up", "--json", "--no-open", "--port", String(PORT), ...args];
    return {
      name: machine,
      role,
      command: machineCommand(network, machine, { cwd: join(local, "project"), mounts }, command),
      env: variablesOf(machine),
      cwd: stage.folder,
      check: () => checkHealth(`http://${machine}:${PORT}/readyz`, () => ""),
    };
  };
  const apiKey = (): string => readFileSync(join(machines, SERVERS[0], "home", ".tandem", "token"), "utf8").trim();
  const processes: ProcessPlan[] = [];
  for (const machine of SERVERS) {
    processes.push(await member(machine, "server", ["--as", "server", "--advertise", `http://${machine}:${PORT}`]));
  }
  for (const machine of WORKERS.slice(0, settings.workers)) {
    const label = VOLUME_WORKERS.includes(machine) ? ["--label", `volume=${VOLUME}`] : [];
    const address = ["--advertise", `http://${machine}:${PORT}`];
    processes.push(await member(machine, "worker", ["--as", "worker", ...label, ...address]));
  }
  const volumeEnvironment = {
    name: "shared volume",
    metadata: { "tandem.path": join(volume, "work"), "tandem.volume": VOLUME },
  };
  return {
    database,
    haproxy,
    pgbouncer,
    databases: settings.hasPgBouncer ? ["postgres", "pgbouncer"] : ["postgres"],
    clocks,
    boots,
    disks,
    volumeEnvironment,
    projectFolder: join(local, "project"),
    workFolder: join(volumeDisk, "work"),
    plan: {
      processes,
      url: `http://haproxy:${PORT}`,
      apiKey,
      // Twice the volume, whose sessions move to another machine when theirs dies.
      newEnvironments: [{ name: "private disk" }, volumeEnvironment, volumeEnvironment],
      busyWorkers: () => busyWorkers(database),
      childPattern: /--input-format/,
      disk: "each machine has its own disk",
      clock: undefined,
      startMs: START_MS,
    },
  };
}

async function giveTo(folder: string, uid: number): Promise<void> {
  await chown(folder, uid, uid);
  for (const entry of await readdir(folder, { recursive: true })) await chown(join(folder, entry), uid, uid);
}
