import { availableParallelism } from "node:os";

/** One line of the table at the end. */
export interface Figure {
  what: string;
  value: string;
  /** The same of the section's peer. */
  peer?: string;
  /** Ours in parts of the peer's. */
  ratio?: string;
}

export interface Section {
  title: string;
  /** Measured in the same run for comparison. */
  peer?: string;
  figures: Figure[];
}

export function report(run: { command: string; otherCores: number }, sections: readonly Section[]): void {
  const machine = `${availableParallelism()} cores, ${process.platform} ${process.arch}, Node ${process.versions.node}`;
  const day = new Date().toISOString().slice(0, 10);
  console.log(`\`${run.command}\`: ${machine}, ${day}.`);
  console.log(`Other programs took ${Math.max(0, run.otherCores).toFixed(2)} cores meanwhile.\n`);
  console.log("| part | what | measured | peer | ratio |");
  console.log("|---|---|---|---|---|");
  for (const { title, peer: name, figures } of sections) {
    for (const [index, { what, value, peer = "", ratio = "" }] of figures.entries()) {
      const who = index === 0 && name ? `${peer} (${name})` : peer;
      console.log(`| ${index === 0 ? title : ""} | ${what} | ${value} | ${who} | ${ratio} |`);
    }
  }
}

export const quantile = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
};

export const ratio = (ours: number, theirs: number): string => (theirs > 0 ? `× ${(ours / theirs).toFixed(2)}` : "–");

export const ms = (value: number): string => value.toFixed(value < 10 ? 1 : 0);

export const count = (value: number): string => Math.round(value).toLocaleString("en");
