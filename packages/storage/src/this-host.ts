import { readFileSync } from "node:fs";
import { hostname } from "node:os";

let known: string | undefined;

/** Where this process runs. Two machines may have one name; no two have been started as the same. */
export const thisHost = (): string => (known ??= `${hostname()} ${bootId()}`.trim());

function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    // Not on Linux: the name has to do.
    return "";
  }
}
