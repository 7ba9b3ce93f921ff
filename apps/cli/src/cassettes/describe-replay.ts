import type { Replay } from "@tandem/emulator";
import { describeDivergence } from "@tandem/protocol";
import { printable, type Style } from "../terminal.ts";

/** A replay as lines for a terminal: identical, or the first step that differs. */
export function describeReplay(
  { divergence, steps, mode }: Replay,
  name: string,
  { good, bad, dim, bold, accent }: Style,
): string[] {
  const tools = mode === "real_tools" ? "real tools" : "recorded tools";
  if (!divergence) return [`${good("✓")} ${printable(name)}: ${steps} steps, identical (${tools}).`];
  const { place, why } = describeDivergence(divergence, steps);
  const painted = divergence.diff.map((line) => {
    const clean = printable(line);
    if (line.startsWith("@@")) return accent(clean);
    return line.startsWith("+") ? good(clean) : line.startsWith("-") ? bad(clean) : clean;
  });
  return [`${bad("✗")} ${printable(name)}: ${bold(place)}`, dim(why), ...painted];
}
