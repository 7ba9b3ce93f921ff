import type { SandboxPlan } from "@tandem/sandbox";
import { OwnedProcess } from "../owned-process.ts";
import { ProcessLedger } from "../process-ledger.ts";

// A separate program that owns a command until its parent kills it, or dies right after the start.
const [folder = "", command = "", plan = "", death] = process.argv.slice(2);
const { gone } = new OwnedProcess(new ProcessLedger(folder), {
  command: "/bin/sh",
  args: ["-c", command],
  cwd: process.cwd(),
  env: process.env,
  ...(plan && { sandbox: JSON.parse(plan) as SandboxPlan }),
});
if (death === "at once") process.kill(process.pid, "SIGKILL");
await gone;
