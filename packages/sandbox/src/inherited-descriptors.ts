import { readdirSync, readFileSync } from "node:fs";

const CLOSE_ON_EXEC = 0o2000000;

/**
 * Descriptors above 2 that this process got from its parent and would pass on to its children. Node marks all that it
 * opens itself, so they are the same for its whole life. A sandboxed program must not get them: they may lead to host files.
 */
export function inheritedDescriptors(): readonly number[] {
  return (found ??= readdirSync("/proc/self/fd").map(Number).filter(isInherited));
}

let found: readonly number[] | undefined;

function isInherited(descriptor: number): boolean {
  if (descriptor <= 2) return false;
  try {
    const info = readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8");
    return (Number.parseInt(/^flags:\s*([0-7]+)/m.exec(info)![1]!, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    // The descriptor of the directory listing itself is closed by now.
    return false;
  }
}
