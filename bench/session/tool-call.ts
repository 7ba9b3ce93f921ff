import { statSync } from "node:fs";
import { join } from "node:path";

let count = 0;

export type ToolName = "bash" | "write";

/** A message that makes the scripted model call a tool, and the file that the call creates. */
export function askForCall(tool: ToolName, folder: string): { prompt: string; effect: string } {
  count += 1;
  const effect = join(folder, `effect-${process.pid}-${count}`);
  return { prompt: tool === "bash" ? `Run touch ${effect}` : `Write ${effect}`, effect };
}

/** When the call had its effect, in milliseconds since the epoch. File systems round it down to a tick of the kernel. */
export const startOf = (effect: string): number => statSync(effect).mtimeMs;
