import { TandemError } from "@tandem/protocol";
import type { WallOff } from "./sandbox-plan.ts";

/** A sandbox that cannot be built as planned. The program was not started. */
export class SandboxError extends TandemError {}

/** For a program that must not run outside of a sandbox, on a machine without one. */
export const wallMissing = ({ reason, fix }: WallOff): SandboxError =>
  new SandboxError("sandbox_unavailable", `The sandbox is required and cannot start: ${reason}`, { fix });
