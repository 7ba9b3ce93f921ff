export { SandboxError, wallMissing } from "./sandbox-error.ts";
export type { Mount, SandboxLimits, SandboxPlan, Wall, WallOff, WallOn, WallProblem } from "./sandbox-plan.ts";
