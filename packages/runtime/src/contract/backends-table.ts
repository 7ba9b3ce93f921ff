import { BEHAVIOURS } from "./runtime-behaviours.ts";
import type { BackendFixture } from "./runtime-stage.ts";

type Column = Pick<BackendFixture, "name" | "exceptions">;

const INTRODUCTION = `# Backends

The runtime does the same on every backend: the same inputs, the same outcomes, the same errors. One contract suite is run
on each of them, \`claude-code\` with the real Claude Code, against a rehearsed model. A tick is a behaviour that it verifies
there; \`no\` is one that it sees fail there, with the reason below.
`;

export const backendsReference = (columns: readonly Column[]): string => `${INTRODUCTION}\n${backendsTable(columns)}`;

/**
 * A Markdown table of behaviours by backend. A tick is verified by the contract suite; an exception is expected to
 * fail, with the reason as a note.
 */
export function backendsTable(columns: readonly Column[]): string {
  const notes: string[] = [];
  const cell = ({ exceptions }: Column, title: string): string => {
    const reason = exceptions?.[title];
    if (reason === undefined) return "✓";
    if (!notes.includes(reason)) notes.push(reason);
    return `no [${notes.indexOf(reason) + 1}]`;
  };
  const sections = Object.entries(BEHAVIOURS).map(([heading, behaviours]) => {
    const rows = Object.keys(behaviours).map(
      (title) => `| ${title} | ${columns.map((column) => cell(column, title)).join(" | ")} |`,
    );
    const head = `| ${heading} | ${columns.map(({ name }) => `\`${name}\``).join(" | ")} |`;
    return [head, `|---|${columns.map(() => ":-:|").join("")}`, ...rows].join("\n");
  });
  const list = notes.map((note, index) => `[${index + 1}] ${note}`).join("\n\n");
  return `${[...sections, ...(list ? [list] : [])].join("\n\n")}\n`;
}
