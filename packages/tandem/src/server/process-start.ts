import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * When a process started, in whatever form the system tells it: with its pid, that tells it from a later one which got the
 * same pid. Undefined if there is none. (The ledger of Claude Code's room knows the same, and takes long to load.)
 */
export function processStart(pid: number): string | undefined {
  try {
    if (process.platform !== "linux") {
      const env = { PATH: process.env["PATH"], LC_ALL: "C", TZ: "UTC" };
      const line = execFileSync("ps", ["-o", "stat=,lstart=", "-p", String(pid)], {
        encoding: "utf8",
        timeout: 5_000,
        env,
      });
      return line.trim().startsWith("Z") ? undefined : line.trim().replace(/^\S+\s+/, "");
    }
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z") return undefined;
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${fields[19]}`;
  } catch {
    return undefined;
  }
}
