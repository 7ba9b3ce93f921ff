/** A run of text with the same style. */
export interface AnsiSpan {
  text: string;
  className: string;
}

// Maps colours by their usual meaning, so that they have enough contrast in both themes.
const COLOURS: readonly string[] = [
  "text-ink-faint",
  "text-bad",
  "text-good",
  "text-wait",
  "text-accent",
  "text-accent",
  "text-accent",
  "text-ink-soft",
];

interface TextStyle {
  colour?: string;
  isBold?: boolean;
  isDim?: boolean;
  isItalic?: boolean;
  isUnderlined?: boolean;
}

// oxlint-disable-next-line no-control-regex -- these are control characters
const SEQUENCE = /\u001b(?:\[([0-9;:]*)([@-~])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;

/** Renders colours and weights. Cursor movements are dropped. */
export function ansiSpans(input: string): AnsiSpan[] {
  const text = overwritten(input);
  if (!text.includes("\u001b")) return text === "" ? [] : [{ text, className: "" }];
  const spans: AnsiSpan[] = [];
  let look: TextStyle = {};
  let from = 0;
  const add = (piece: string): void => {
    const className = classOf(look);
    const last = spans.at(-1);
    if (piece === "") return;
    if (last?.className === className) last.text += piece;
    else spans.push({ text: piece, className });
  };
  for (const match of text.matchAll(SEQUENCE)) {
    add(text.slice(from, match.index));
    from = match.index + match[0].length;
    if (match[2] === "m") look = changed(look, match[1] ?? "");
  }
  add(text.slice(from));
  return spans;
}

/** Keeps the last state of a line that was overwritten with `\r`, like a progress bar. */
const overwritten = (text: string): string =>
  text.includes("\r")
    ? text
        .replaceAll("\r\n", "\n")
        .split("\n")
        .map((line) => line.slice(line.lastIndexOf("\r", line.length - 2) + 1))
        .join("\n")
    : text;

function changed(before: TextStyle, codes: string): TextStyle {
  let look = { ...before };
  const numbers = codes.split(/[;:]/).map(Number);
  for (let index = 0; index < numbers.length; index += 1) {
    const code = numbers[index]!;
    if (code === 0) look = {};
    else if (code === 1) look.isBold = true;
    else if (code === 2) look.isDim = true;
    else if (code === 3) look.isItalic = true;
    else if (code === 4) look.isUnderlined = true;
    else if (code === 22) look = { ...look, isBold: false, isDim: false };
    else if (code === 23) look.isItalic = false;
    else if (code === 24) look.isUnderlined = false;
    else if (code >= 30 && code <= 37) look.colour = COLOURS[code - 30]!;
    else if (code >= 90 && code <= 97) look.colour = COLOURS[code - 90]!;
    else if (code === 39) delete look.colour;
    else if (code === 38 || code === 48 || code === 58) {
      const isPalette = numbers[index + 1] === 5;
      const values = numbers.slice(index + 2, index + (isPalette ? 3 : 5));
      if (code === 38) look.colour = isPalette ? fromPalette(values[0] ?? 7) : fromRgb(values);
      index += isPalette ? 2 : 4;
    }
  }
  return look;
}

function fromPalette(value: number): string {
  if (value < 16) return COLOURS[value % 8]!;
  if (value >= 232) return value < 244 ? "text-ink-faint" : "text-ink-soft";
  const cube = value - 16;
  return fromRgb([Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map((part) => part * 51));
}

/** The nearest colour by meaning. */
function fromRgb([red = 0, green = 0, blue = 0]: readonly number[]): string {
  const most = Math.max(red, green, blue);
  if (most - Math.min(red, green, blue) < 40) return most < 140 ? "text-ink-faint" : "text-ink-soft";
  if (blue === most) return "text-accent";
  if (red === most) return green > red * 0.55 ? "text-wait" : "text-bad";
  return red > green * 0.8 ? "text-wait" : "text-good";
}

const classOf = ({ colour, isBold, isDim, isItalic, isUnderlined }: TextStyle): string =>
  [
    colour ?? (isDim ? "text-ink-faint" : ""),
    isBold ? "font-semibold" : "",
    isItalic ? "italic" : "",
    isUnderlined ? "underline" : "",
  ]
    .filter(Boolean)
    .join(" ");
