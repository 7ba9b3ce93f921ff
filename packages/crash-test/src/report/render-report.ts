import { DESCRIPTIONS, FAULT_KINDS } from "../faults/fault-kinds.ts";
import { SESSION_STATES } from "../history.ts";
import { INVARIANTS } from "../invariants/check-history.ts";
import type { CrashTestReport } from "./crash-test-report.ts";

const describe = (kind: string): string => {
  const known = FAULT_KINDS.find((one) => one === kind);
  return known ? DESCRIPTIONS[known] : kind === "kill-database" ? "kill -9 of the database, then a restart" : kind;
};

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

/** The report as a page of the docs. */
export function renderMarkdown(reports: readonly CrashTestReport[], command: string): string {
  const total = reports.reduce((sum, { faults }) => sum + faults.length, 0);
  const violations = reports.reduce((sum, report) => sum + report.violations.length, 0);
  const kinds = [...new Set(reports.flatMap(({ faults }) => faults.map(({ kind }) => kind)))];
  const row = (cells: readonly (string | number)[]): string => `| ${cells.join(" | ")} |`;
  const rule = (columns: number): string => row(Array.from({ length: columns }, () => "---"));
  const count = ({ faults }: CrashTestReport, kind: string): number => faults.filter((one) => one.kind === kind).length;
  const all = reports.flatMap(({ faults }) => faults);
  return [
    "# Results of the crash tests",
    "",
    `${total} faults, ${violations} violations. Written by \`${command}\`; [the guide](guides/crash-tests.md) explains the tests.`,
    "",
    row(["system", "faults", "violations", "seconds", "seed", "sessions", "messages", "calls", "events"]),
    rule(9),
    ...reports.map(({ name, faults, violations: found, seconds, seed, counts }) =>
      row([
        name,
        faults.length,
        found.length,
        seconds,
        seed,
        counts.sessions,
        counts.messages,
        counts.calls,
        counts.events,
      ]),
    ),
    "",
    "## Faults",
    "",
    row(["fault", ...reports.map(({ name }) => name), "meaning"]),
    rule(reports.length + 2),
    ...kinds.map((kind) => row([`\`${kind}\``, ...reports.map((report) => count(report, kind)), describe(kind)])),
    "",
    "State of a session that each fault hit, over all systems:",
    "",
    row(["fault", ...SESSION_STATES]),
    rule(SESSION_STATES.length + 1),
    ...kinds.map((kind) =>
      row([
        `\`${kind}\``,
        ...SESSION_STATES.map((state) => all.filter((one) => one.kind === kind && one.state === state).length),
      ]),
    ),
    ...skippedLines(reports),
    "",
    "## Invariants",
    "",
    row(["invariant", "promise", "violations"]),
    rule(3),
    ...INVARIANTS.map(({ name, promise }) =>
      row([
        `\`${name}\``,
        promise,
        reports.reduce(
          (sum, report) => sum + report.violations.filter(({ invariant }) => invariant === name).length,
          0,
        ),
      ]),
    ),
    ...reports.flatMap(({ name, violations: found }) =>
      found.length === 0
        ? []
        : [
            "",
            `## Violations: ${name}`,
            "",
            ...found.map(({ invariant, message }) => `- \`${invariant}\`: ${message}`),
          ],
    ),
    "",
  ].join("\n");
}

function skippedLines(reports: readonly CrashTestReport[]): string[] {
  const skipped = reports.flatMap(({ name, skipped: of }) =>
    of.map(({ kind, reason }) => `- ${name}, \`${kind}\`: ${reason}.`),
  );
  return skipped.length === 0 ? [] : ["", "Not possible there:", "", ...skipped];
}
