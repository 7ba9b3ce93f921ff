/** The lines that a terminal shows after a program has written `raw`: without colours and overwritten status lines. */
export function terminalText(raw: string): string[] {
  const lines = [""];
  let [row, column] = [0, 0];
  // oxlint-disable-next-line no-control-regex
  const control = /\u001b\[([\d;?]*)([A-Za-z])|\r|\n|[^\u001b\r\n]+/g;
  for (const [part, argument = "", code] of raw.matchAll(control)) {
    const count = Number.parseInt(argument, 10) || 0;
    const line = lines[row] ?? "";
    if (part === "\r") column = 0;
    else if (part === "\n") {
      row += 1;
      column = 0;
      lines[row] ??= "";
    } else if (code === "K") lines[row] = count === 2 ? "" : line.slice(0, column);
    else if (code === "J") lines.splice(row, lines.length, line.slice(0, column));
    else if (code === "G") column = Math.max(0, count - 1);
    else if (code === "A") row = Math.max(0, row - (count || 1));
    else if (code === "C") column += count || 1;
    else if (code === undefined) {
      lines[row] = line.padEnd(column).slice(0, column) + part + line.slice(column + part.length);
      column += part.length;
    }
  }
  return lines.map((line) => line.trimEnd());
}
