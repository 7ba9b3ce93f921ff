/** Splits a long block: tables repeat their head, code keeps its fence, text is split between lines. */
export function splitBlock(block: string, longest: number): string[] {
  if (block.length <= longest) return [block];
  const lines = block.split("\n");
  const fence = /^(`{3,}|~{3,})[^\n]*$/.exec(lines[0]!);
  if (fence) {
    const isClosed = lines.length > 1 && lines.at(-1)!.trim().startsWith(fence[1]!);
    return wrapped(lines.slice(1, isClosed ? -1 : undefined), longest, [lines[0]!], [fence[1]!]);
  }
  const isTable =
    /^\s*\|?[\s:|-]+\|[\s:|-]*$/.test(lines[1] ?? "") && lines[0]!.length + lines[1]!.length < longest / 2;
  return isTable ? wrapped(lines.slice(2), longest, lines.slice(0, 2), []) : wrapped(lines, longest, [], []);
}

function wrapped(
  lines: readonly string[],
  longest: number,
  head: readonly string[],
  foot: readonly string[],
): string[] {
  const room = longest - [...head, ...foot].reduce((sum, line) => sum + line.length + 1, 0);
  const pieces: string[][] = [[]];
  let used = 0;
  for (const line of lines.flatMap((each) => splitLine(each, room))) {
    if (used > 0 && used + line.length + 1 > room) {
      pieces.push([]);
      used = 0;
    }
    pieces.at(-1)!.push(line);
    used += line.length + 1;
  }
  return pieces.map((piece) => [...head, ...piece, ...foot].join("\n"));
}

/** Splits after a sentence, else after a word, else anywhere except within a character. */
function splitLine(line: string, longest: number): string[] {
  const pieces: string[] = [];
  let rest = line;
  while (rest.length > longest) {
    const head = rest.slice(0, longest);
    const sentence = Math.max(
      head.lastIndexOf(". "),
      head.lastIndexOf("? "),
      head.lastIndexOf("! "),
      head.lastIndexOf("。"),
    );
    const word = head.lastIndexOf(" ");
    let end = sentence > longest / 2 ? sentence + 1 : word > longest / 2 ? word : longest;
    if (/[\uD800-\uDBFF]/.test(rest[end - 1]!)) end -= 1;
    pieces.push(rest.slice(0, end).trimEnd());
    rest = rest.slice(end).trimStart();
  }
  return rest === "" && pieces.length > 0 ? pieces : [...pieces, rest];
}
