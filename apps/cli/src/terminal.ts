import { stripVTControlCharacters, styleText } from "node:util";
import { asCalled } from "./called-as.ts";

type Stream = NodeJS.WriteStream;
type Paint = (text: string) => string;

/** Colours of a stream. None without a terminal or with NO_COLOR. */
export interface Style {
  bold: Paint;
  /** For hints: `tandem COMMAND` is written as it was called. */
  dim: Paint;
  good: Paint;
  warn: Paint;
  bad: Paint;
  /** For commands to copy, which are written as `tandem` was called. */
  accent: Paint;
}

export function styleFor(stream: Stream): Style {
  const paint =
    (format: Parameters<typeof styleText>[0]): Paint =>
    (text) =>
      styleText(format, text, { stream });
  const dim = paint("dim");
  const accent = paint("cyan");
  return {
    bold: paint("bold"),
    dim: (text) => dim(asCalled(text)),
    good: paint("green"),
    warn: paint("yellow"),
    bad: paint("red"),
    accent: (text) => accent(asCalled(text)),
  };
}

/** Writes and waits for completion. A closed pipe is no error: `tandem … | head` is common. */
export function write(stream: Stream, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error?: NodeJS.ErrnoException | null) => {
      if (error && error.code !== "EPIPE") reject(error);
      else resolve();
    });
  });
}

const CONTROL = /(?![\n\t])\p{Cc}/gu;

/** The output of `--json`. */
export const writeJson = (stream: Stream, value: unknown): Promise<void> =>
  write(stream, `${JSON.stringify(value, null, 2)}\n`);

/** Writes the value with `--json`, else the lines. */
export const writeResult = (
  { stdout, json }: { stdout: Stream; json: boolean },
  value: unknown,
  lines: readonly string[],
): Promise<void> => (json ? writeJson(stdout, value) : write(stdout, `${lines.join("\n")}\n`));

/** Writes the value with `--json`, else a table, or the hint if it has no rows. */
export const writeTable = (
  invocation: { stdout: Stream; json: boolean },
  value: unknown,
  rows: readonly (readonly string[])[],
  hint: string,
): Promise<void> =>
  writeResult(invocation, value, rows.length > 0 ? table(rows) : [styleFor(invocation.stdout).dim(hint)]);

/** Removes control characters, with which a model or a file could control the terminal. */
export const printable = (text: string): string => stripVTControlCharacters(text).replaceAll(CONTROL, "");

/** Cuts a text that is longer than the limit. */
export const clip = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** Aligns columns by their widest cell. The last column is not padded. */
export function table(rows: readonly (readonly string[])[], gap = 2): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, i) => (widths[i] = Math.max(widths[i] ?? 0, visibleLength(cell))));
  }
  return rows.map((row) =>
    row
      .map((cell, i) => (i === row.length - 1 ? cell : cell + " ".repeat(widths[i]! - visibleLength(cell) + gap)))
      .join("")
      .trimEnd(),
  );
}

const visibleLength = (text: string): number => stripVTControlCharacters(text).length;

/** Wraps text at spaces. Longer words are kept whole. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const paragraph of text.split("\n")) {
    let line = "";
    for (const word of paragraph.split(" ")) {
      if (line && visibleLength(line) + 1 + visibleLength(word) > width) {
        lines.push(line);
        line = word;
      } else {
        line = line ? `${line} ${word}` : word;
      }
    }
    lines.push(line);
  }
  return lines;
}

/** The output width: that of the terminal, else unlimited. */
export const widthOf = (stream: Stream): number => (stream.isTTY ? Math.max(40, stream.columns) : Infinity);

/** A dim line about the command itself. On a terminal it replaces a status line that is being shown. */
export const noteLine = (stream: Stream, text: string): string =>
  `${stream.isTTY ? "\r\u001b[2K" : ""}${styleFor(stream).dim(text)}\n`;
