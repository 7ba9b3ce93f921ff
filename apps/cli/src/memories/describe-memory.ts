import type { MemoryFile } from "@tandem/context";
import { loadContext } from "@tandem/tandem/compose";
import { ago } from "../human-units.ts";
import { clip, printable, styleFor, table, widthOf, wrap } from "../terminal.ts";
import { describeExpiry } from "./memory-expiry.ts";

const WIDTH = 100;
const ONE_LINE = 70;

/** One line per memory, followed by one for each contradiction. */
export function listLines(
  stdout: NodeJS.WriteStream,
  memories: readonly { memory: MemoryFile; against: MemoryFile[] }[],
): string[] {
  const { dim, warn, bold } = styleFor(stdout);
  const rows = table(
    memories.map(({ memory }) => [
      memory.id,
      dim(forWhom(memory)),
      bold(oneLine(memory.text)),
      dim(
        [ago(memory.createdAt), describeExpiry(memory.expiresAt), ...memory.tags.map((tag) => `#${tag}`)]
          .filter(Boolean)
          .join(", "),
      ),
    ]),
  );
  return memories.flatMap(({ against }, at) => [
    rows[at]!,
    ...against.map((other) => `  ${warn("≠")} ${other.id}  ${oneLine(other.text)}`),
  ]);
}

/** A memory with text, scope, expiry, source and contradictions. */
export async function showLines(
  stdout: NodeJS.WriteStream,
  memory: MemoryFile,
  against: readonly MemoryFile[],
): Promise<string[]> {
  const { dim, bold, warn } = styleFor(stdout);
  const { describeEvidence } = await loadContext();
  const width = Math.min(WIDTH, widthOf(stdout));
  const about = [forWhom(memory), ago(memory.createdAt), describeExpiry(memory.expiresAt) || "never expires"];
  return [
    `${bold(memory.id)}  ${dim([...about, ...memory.tags.map((tag) => `#${printable(tag)}`)].join(", "))}`,
    ...wrap(printable(memory.text), width),
    ...memory.sources.map((item) => dim(`  ↳ ${printable(describeEvidence(item))}`)),
    ...against.flatMap((other) => ["", warn("Contradicted:"), ...sideBySide(memory, other, width, describeEvidence)]),
    ...(against.length > 0
      ? ["", dim(`Remove one: tandem context memories remove ${memory.id}, or ${against[0]!.id}`)]
      : []),
  ];
}

type Describe = Awaited<ReturnType<typeof loadContext>>["describeEvidence"];

function sideBySide(a: MemoryFile, b: MemoryFile, width: number, describe: Describe): string[] {
  const half = Math.max(20, Math.floor((width - 3) / 2));
  const column = (memory: MemoryFile) => [
    memory.id,
    ...wrap(printable(memory.text), half),
    ...memory.sources.slice(0, 1).flatMap((item) => wrap(`↳ ${printable(describe(item))}`, half)),
  ];
  const [left, right] = [column(a), column(b)];
  const rows = Array.from({ length: Math.max(left.length, right.length) }, (_, at) => [
    left[at] ?? "",
    "│",
    right[at] ?? "",
  ]);
  return table(rows, 1);
}

const forWhom = ({ scope, agent, user }: MemoryFile): string =>
  printable([scope, scope === "agent" ? agent : user].filter(Boolean).join(" "));

function oneLine(text: string): string {
  const line = printable(text).replaceAll(/\s+/g, " ");
  return clip(line, ONE_LINE);
}
