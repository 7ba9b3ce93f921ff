import type { Replay } from "@tandem/emulator";
import { printable, type Style } from "../terminal.ts";

/** A replay as lines for a terminal: identical, or the first step that differs. */
export function describeReplay(
  { divergence, steps, mode }: Replay,
  name: string,
  { good, bad, dim, bold, accent }: Style,
): string[] {
  const tools = mode === "real_tools" ? "real tools" : "recorded tools";
  if (!divergence) return [`${good("✓")} ${printable(name)}: ${steps} steps, identical (${tools}).`];
  const { step, kind, expected, actual, diff, from } = divergence;
  const place =
    kind === "folder" ? "The folder differs after the last step." : `Step ${step} of ${steps} (${kind}) differs.`;
  const why =
    from === "events"
      ? "The file was changed: this step contradicts the cassette's own events (+)."
      : expected === null
        ? "The replay continued after the last recorded step (+)."
        : actual === null
          ? "The replay has no such step (-)."
          : "Expected (-) and actual (+):";
  const painted = diff.map((line) => {
    const clean = printable(line);
    if (line.startsWith("@@")) return accent(clean);
    return line.startsWith("+") ? good(clean) : line.startsWith("-") ? bad(clean) : clean;
  });
  return [`${bad("✗")} ${printable(name)}: ${bold(place)}`, dim(why), ...painted];
}
