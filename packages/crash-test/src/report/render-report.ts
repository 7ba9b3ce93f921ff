import { DESCRIPTIONS, FAULT_KINDS } from "../faults/fault-kinds.ts";
import { SESSION_STATES } from "../operation-history.ts";
import { INVARIANTS } from "../invariants/check-history.ts";
import type { CrashTestReport } from "./crash-test-report.ts";

/** One line for each kind of fault and each violation. */
export function renderText(report: CrashTestReport): string[] {
  const { name, faults, violations, skipped, seconds, seed, counts } = report;
  const kinds = [...Map.groupBy(faults, ({ kind }) => kind)].map(([kind, of]) => `${kind} ${of.length}`);
  const found = violations.length === 0 ? "no violations" : `${violations.length} violations`;
  return [
    `${name}: ${faults.length} faults in ${seconds} s, ${found} (seed ${seed})`,
    `  ${kinds.join(", ")}`,
    `  ${counts.sessions} sessions, ${counts.messages} messages, ${counts.calls} calls with effects, ${counts.answers} answers, ` +
      `${counts.events} events, ${counts.modelRequests} model requests, ${counts.streams} streams`,
    ...skipped.map(({ kind, reason }) => `  skipped ${kind}: ${reason}`),
    ...violations.flatMap(({ invariant, message, session, round }) => [
      `  ✗ ${invariant}${session === undefined ? "" : ` ${session}`} (${roundName(round)}): ${message}`,
    ]),
  ];
}

const roundName = (round: number): string =>
  round === 0 ? "before any fault" : round < 0 ? "after the end" : `round ${round}`;

type Cells = readonly (string | number)[];
const row = (cells: Cells): string => `| ${cells.join(" | ")} |`;
const table = (head: Cells, rows: readonly Cells[]): string[] => [
  row(head),
  row(head.map(() => "---")),
  ...rows.map(row),
];
const sum = <T>(items: readonly T[], count: (item: T) => number): number =>
  items.reduce((total, item) => total + count(item), 0);

/** The report as a page of the docs. Several runs of a system are listed one by one, and their faults are counted together. */
export function renderMarkdown(reports: readonly CrashTestReport[], command: string): string {
  const total = sum(reports, ({ faults }) => faults.length);
  const violations = sum(reports, (report) => report.violations.length);
  return [
    "# Results of the crash tests",
    "",
    `${total} faults, ${violations} violations. Written by \`${command}\`; [the guide](guides/crash-tests.md) explains the tests.`,
    "",
    ...runsTable(reports),
    "",
    "## Faults",
    "",
    ...faultTables(reports),
    ...skippedLines(reports),
    "",
    "## Invariants",
    "",
    ...table(
      ["invariant", "promise", "violations"],
      INVARIANTS.map(({ name, promise }) => [
        `\`${name}\``,
        promise,
        sum(reports, (report) => report.violations.filter(({ invariant }) => invariant === name).length),
      ]),
    ),
    ...reports.flatMap(({ name, seed, violations: found }) =>
      found.length === 0
        ? []
        : [
            "",
            `## Violations: ${name}, seed ${seed}`,
            "",
            ...found.map(({ invariant, message }) => `- \`${invariant}\`: ${message}`),
          ],
    ),
    "",
  ].join("\n");
}

const runsTable = (reports: readonly CrashTestReport[]): string[] =>
  table(
    ["system", "faults", "violations", "seconds", "seed", "sessions", "messages", "calls", "events"],
    reports.map(({ name, faults, violations, seconds, seed, counts }) => [
      name,
      faults.length,
      violations.length,
      seconds,
      seed,
      counts.sessions,
      counts.messages,
      counts.calls,
      counts.events,
    ]),
  );

function faultTables(reports: readonly CrashTestReport[]): string[] {
  const systems = [...Map.groupBy(reports, ({ name }) => name)].map(
    ([name, runs]) => [name, runs.flatMap(({ faults }) => faults)] as const,
  );
  const all = systems.flatMap(([, faults]) => faults);
  const kinds = [...new Set(all.map(({ kind }) => kind))].toSorted();
  const own: Record<string, string> = Object.assign({}, ...reports.map(({ descriptions }) => descriptions ?? {}));
  const describe = (kind: string): string => {
    const known = FAULT_KINDS.find((one) => one === kind);
    return known ? DESCRIPTIONS[known] : (own[kind] ?? "");
  };
  return [
    ...table(
      ["fault", ...systems.map(([name]) => name), "meaning"],
      kinds.map((kind) => [
        `\`${kind}\``,
        ...systems.map(([, faults]) => faults.filter((one) => one.kind === kind).length),
        describe(kind),
      ]),
    ),
    "",
    "State of a session that each fault hit, over all systems:",
    "",
    ...table(
      ["fault", ...SESSION_STATES],
      kinds.map((kind) => [
        `\`${kind}\``,
        ...SESSION_STATES.map((state) => all.filter((one) => one.kind === kind && one.state === state).length),
      ]),
    ),
  ];
}

function skippedLines(reports: readonly CrashTestReport[]): string[] {
  const skipped = reports.flatMap(({ name, skipped: of }) =>
    of.map(({ kind, reason }) => `- ${name}, \`${kind}\`: ${reason}.`),
  );
  return skipped.length === 0 ? [] : ["", "Not possible there:", "", ...new Set(skipped)];
}
