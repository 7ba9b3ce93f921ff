import type { SandboxPlan } from "@tandem/sandbox";
import { OwnedProcess } from "../owned-process.ts";
import { ProcessLedger } from "../process-ledger.ts";

// A separate program that owns a command until its parent kills it. The third argument is a sandbox's plan.
const [folder = "", command = "", plan] = process.argv.slice(2);
const { gone } = new OwnedProcess(new ProcessLedger(folder), {
  command: "/bin/sh",
  args: ["-c", command],
  cwd: process.cwd(),
  env: process.env,
  ...(plan !== undefined && { sandbox: JSON.parse(plan) as SandboxPlan }),
});
await gone;
