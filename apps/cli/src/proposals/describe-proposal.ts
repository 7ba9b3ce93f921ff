import type { Change, Decision, Hunk, Proposal } from "@tandem/context";
import { loadContext } from "@tandem/tandem/compose";
import { printable, type Style, styleFor, widthOf, wrap } from "../terminal.ts";

const WIDTH = 100;
/** Context lines above a hunk. */
const ABOVE = 2;

/** Renders a proposal as a diff with the evidence below each hunk. Without `all`, only open hunks. */
export async function describeProposal(
  stdout: NodeJS.WriteStream,
  proposal: Proposal,
  { all }: { all: boolean },
): Promise<string[]> {
  const style = styleFor(stdout);
  const width = Math.min(WIDTH, widthOf(stdout));
  const { describeEvidence } = await loadContext();
  const waits = ({ state }: Hunk) => state === "open" || state === "conflict";
  const files = proposal.changes.flatMap((change) => {
    const shown = change.hunks.filter((hunk) => all || waits(hunk));
    if (shown.length === 0) return [];
    const what = change.before === null ? " (new)" : change.after === null ? " (goes)" : "";
    const title = `${style.bold(printable(change.path))}${style.dim(what)}`;
    return ["", title, ...shown.flatMap((hunk) => describeHunk(change, hunk, { style, width, describeEvidence }))];
  });
  const decided = proposal.changes.flatMap(({ hunks }) => hunks).filter((hunk) => !waits(hunk)).length;
  return [
    style.bold(printable(proposal.title)),
    ...(proposal.summary ? wrap(printable(proposal.summary), width) : []),
    ...(proposal.quarantine === null ? [] : [style.bad(`In quarantine: ${printable(proposal.quarantine)}`)]),
    ...files,
    ...proposal.decisions.flatMap((item) => describeDecision(item, { style, width, describeEvidence })),
    ...(decided > 0 && !all
      ? ["", style.dim(`${decided} decided ${decided === 1 ? "hunk is" : "hunks are"} hidden. Show all with --all.`)]
      : []),
  ];
}

interface Tools {
  style: Style;
  width: number;
  describeEvidence: (item: Change["evidence"][number]) => string;
}

function describeHunk({ before, evidence }: Change, hunk: Hunk, { style, width, describeEvidence }: Tools): string[] {
  const { id, aspect, state, note, held, decidedBy, oldStart, oldLines, newLines } = hunk;
  const { accent, good, bad, warn, dim } = style;
  const decided = [decidedBy && `by ${decidedBy}`, note].filter(Boolean).join(", ");
  const paint = state === "conflict" ? bad : state === "open" ? warn : dim;
  const above = (before ?? "").split("\n").slice(Math.max(0, oldStart - 1 - ABOVE), oldStart - 1);
  const line = (mark: string, text: string) => `    ${mark} ${printable(text.replace(/\r$/, ""))}`;
  return [
    `  ${accent(id)}  ${aspect}  ${paint(state)}${decided ? dim(`  ${printable(decided)}`) : ""}`,
    ...(held === undefined ? [] : wrap(`Held: ${printable(held)}`, width - 6).map((text) => bad(`      ${text}`))),
    ...above.map((text) => dim(line(" ", text))),
    ...oldLines.map((text) => bad(line("-", text))),
    ...newLines.map((text) => good(line("+", text))),
    ...reasons(hunk, evidence.map(describeEvidence)).flatMap((text) =>
      wrap(`↳ ${printable(text)}`, width - 6).map((part, index) => dim(`      ${index === 0 ? part : `  ${part}`}`)),
    ),
  ];
}

/** Lists each piece of evidence once, with line numbers if it does not cover all lines. */
function reasons({ newLines, support, removal }: Hunk, evidence: readonly string[]): string[] {
  const lines = new Map<number, number[]>();
  const told = newLines.flatMap((text, index) => (text.trim() === "" ? [] : [index]));
  for (const index of told)
    for (const place of support[index] ?? []) lines.set(place, [...(lines.get(place) ?? []), index + 1]);
  const added = [...lines].map(([place, numbers]) => {
    const prefix = numbers.length === told.length ? "" : `${spans(numbers)}: `;
    return `${prefix}${evidence[place]}`;
  });
  const gone = newLines.length === 0 ? removal.map((place) => evidence[place]!) : [];
  return [...added, ...gone];
}

function describeDecision(
  { id, kind, about, question, sides, answer }: Decision,
  { style, width, describeEvidence }: Tools,
): string[] {
  const { accent, bold, dim, warn } = style;
  return [
    "",
    `  ${accent(`question ${id}`)}  ${kind}  ${dim(printable(about))}  ${answer === null ? warn("open") : dim(`answered: ${printable(answer)}`)}`,
    ...wrap(printable(question), width - 4).map((text) => `    ${bold(text)}`),
    ...sides.flatMap(({ claim, evidence }) => [
      ...wrap(`• ${printable(claim)}`, width - 4).map((text) => `    ${text}`),
      ...evidence.map((item) => dim(`      ↳ ${printable(describeEvidence(item))}`)),
    ]),
  ];
}

/** `line 3`, `lines 1–17, 19`. */
function spans(numbers: readonly number[]): string {
  const found: { from: number; to: number }[] = [];
  for (const number of numbers) {
    const last = found.at(-1);
    if (last?.to === number - 1) last.to = number;
    else found.push({ from: number, to: number });
  }
  const shown = found.map(({ from, to }) => (from === to ? `${from}` : `${from}–${to}`)).join(", ");
  return `${numbers.length === 1 ? "line" : "lines"} ${shown}`;
}
