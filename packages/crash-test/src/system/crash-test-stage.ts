import type { ClockStep } from "./clock-step.ts";
import type { SmallDisk } from "./small-disk.ts";
import type { WriteKill } from "./write-kill.ts";

/** Resources of a system under test. Everything below `folder` is removed at the end. */
export interface CrashTestStage {
  folder: string;
  /** For the state of the server. A file system of its own, if this machine allows it. */
  state: string;
  disk: SmallDisk | string;
  clock: ClockStep;
  /** Its variables are for the tested processes, and include those of `clock`. */
  writes: WriteKill;
  /** Where the effects of tools are counted: a sandbox must let commands write to the folder and reach the port. */
  effects: { folder: string; port: number };
  /** The scripted model: `ANTHROPIC_BASE_URL` of the server. */
  modelUrl: string;
  /** Marks the processes of the run: put it at the end of their PATH. */
  mark: string;
}
