import type { CrashTestStage } from "@tandem/crash-test";

/** The part of a stage that a lab uses: each machine has its own disk and clock. */
export type LabFolder = Pick<CrashTestStage, "folder" | "modelUrl" | "mark">;

export interface LabSettings {
  /** How long a lease lasts: `sessions.takeover`. */
  takeover: string;
  leaseMs: number;
  workers: number;
  /** Whether statements go through PgBouncer in transaction mode. */
  hasPgBouncer: boolean;
  /** The workers with the shared volume have a context there, or each server has one on its own disk. Without it, none has. */
  context?: "volume" | "servers";
}
