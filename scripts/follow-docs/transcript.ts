/** A command of a `console` block and the output that the page shows for it. */
export interface DocumentedCommand {
  command: string;
  /** Lines of output. `…` alone stands for any lines. */
  output: string[];
}

const BLOCK = /^```console\n([\s\S]*?)^```/gm;

/** The commands of all `console` blocks of a page, in order. */
export const commandsOf = (page: string): DocumentedCommand[] =>
  [...page.matchAll(BLOCK)].flatMap(([, block]) => parseBlock(block!));

function parseBlock(block: string): DocumentedCommand[] {
  const commands: DocumentedCommand[] = [];
  for (const line of block.trimEnd().split("\n")) {
    if (line.startsWith("$ ")) commands.push({ command: line.slice(2), output: [] });
    else commands.at(-1)?.output.push(line);
  }
  return commands;
}

/** Replaces the output of each command by what `outputs` has for it. */
export function withOutputs(page: string, outputs: readonly string[][]): string {
  const left = [...outputs];
  return page.replaceAll(BLOCK, (_, block: string) => {
    const lines = parseBlock(block).flatMap(({ command }) => [`$ ${command}`, ...left.shift()!]);
    return `\`\`\`console\n${lines.join("\n")}\n\`\`\``;
  });
}

/** Whether the output of a run equals the page's, apart from ids, times, sizes and ports. */
export function matches(documented: readonly string[], actual: readonly string[]): boolean {
  const [first, ...rest] = documented;
  if (first === undefined) return actual.length === 0;
  if (first.trim() === "…") return actual.some((_, at) => matches(rest, actual.slice(at))) || matches(rest, []);
  return actual.length > 0 && stable(first) === stable(actual[0]!) && matches(rest, actual.slice(1));
}

/** Replaces the parts of a line that differ from run to run. */
function stable(line: string): string {
  return (
    line
      .replaceAll(/\b(sesn|sevt|prop|agent|env|tok|job)_[0-9A-Za-z…]+/g, "$1_ID")
      .replaceAll(/#code=\S+/g, "#code=CODE")
      .replaceAll(/127\.0\.0\.1:\d+/g, "127.0.0.1:PORT")
      .replaceAll(/\bpid \d+/g, "pid PID")
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
      // Shown only if the reader took a second or more to answer.
      .replaceAll(/, waited .+? for you/g, "")
      .replaceAll(/\b\d+(\.\d+)? (ms|s|min|h|d|kB|MB)\b/g, "N")
      .replaceAll(/\b\d+ events\b/g, "N events")
      .replaceAll(/\$\d+\.\d+/g, "$N")
      .replaceAll(/ {2,}/g, "  ")
      .trimEnd()
  );
}
