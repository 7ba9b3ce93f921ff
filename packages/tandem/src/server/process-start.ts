import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * The start time of a process, in the system's format. Together with the pid it detects a reused pid. Undefined if there is no
 * such process. (The claude-code package has the same function but loads slowly.)
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
