import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TestedSystem } from "@tandem/crash-test";
import { startRehearsal, type Rehearsal, type Script } from "@tandem/rehearsal";
import { addressOf } from "./lab-machines.ts";
import type { LabNetwork } from "./lab-network.ts";
import type { LabFolder, LabSettings } from "./lab-settings.ts";
import { createLab, type Lab } from "./lab-system.ts";

export interface LabStage extends AsyncDisposable {
  lab: Lab;
  system: TestedSystem;
  model: Rehearsal;
}

/** A started lab without the workload of the crash tests, for measurements and checks. */
export async function openStage(
  network: LabNetwork,
  settings: LabSettings,
  { script, signal }: { script: Script; signal: AbortSignal },
): Promise<LabStage> {
  await using parts = new AsyncDisposableStack();
  const folder = await realpath(await mkdtemp(join(tmpdir(), "tandem-lab-stage-")));
  parts.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }));
  await mkdir(join(folder, "effects"));
  const model = parts.use(await startRehearsal(script));
  const stage: LabFolder = {
    folder,
    modelUrl: model.url.replace("127.0.0.1", addressOf("client")),
    mark: join(folder, "programs"),
  };
  const lab = await createLab(network, stage, parts, settings);
  const system = parts.use(new TestedSystem(lab.plan, signal));
  await system.start();
  const held = parts.move();
  return { lab, system, model, [Symbol.asyncDispose]: () => held.disposeAsync() };
}
