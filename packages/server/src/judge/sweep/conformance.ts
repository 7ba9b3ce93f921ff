import { eventTable } from "./event-table.ts";
import type { MethodOutcome, Outcome } from "./run-sweep.ts";

const INTRODUCTION = `# Conformance with the official client

## Methods

A test calls every method of \`@anthropic-ai/sdk\` for TypeScript under \`client.beta\`, \`client.messages\` and \`client.models\`
on a Tandem server, has the compiler check the answers against the method's return type, and writes this page. Answers of
\`messages\` are not checked: they are the backend's, which Tandem passes on unchanged. Clients for other languages have the
same methods under similar names.

- **same**: the server answers as Anthropic's API does.
- **differs**: it works, with the differences and refused arguments in the last column.
- **a status**: the server refuses the call, with this sentence. No refusal is retried by the client.
`;

const EVENTS = `
## Events

Every type of event that the client knows. Tandem's own events begin with \`tandem.\` ([guide](../guides/events.md)).
`;

/** Renders the outcomes of a sweep, and the client's events. */
export function conformance(outcomes: readonly MethodOutcome[]): string {
  const rows = [["method", "outcome", ""], ["---", "---", "---"], ...rowsOf(outcomes, 0)];
  const methods = rows.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
  return [INTRODUCTION, methods, EVENTS, eventTable(), ""].join("\n");
}

/** One row for a resource whose methods are all refused alike. `depth` counts the names before the group's own. */
function rowsOf(outcomes: readonly MethodOutcome[], depth: number): string[][] {
  const groups = Map.groupBy(outcomes, ({ name }) =>
    name
      .split(".")
      .slice(0, depth + 1)
      .join("."),
  );
  return [...groups].flatMap(([group, methods]) => {
    const [first] = methods;
    const cells = [wordOf(first!), remarks(first!)];
    if (methods.length === 1) return [[`\`${first!.name}\``, ...cells]];
    if (!methods.every((method) => isSame(method, first!))) return rowsOf(methods, depth + 1);
    return [[`\`${group}.*\` (${methods.length} methods)`, ...cells]];
  });
}

const isSame = (one: MethodOutcome, other: MethodOutcome): boolean =>
  one.outcome.type !== "works" && word(one.outcome) === word(other.outcome) && remarks(one) === remarks(other);

const wordOf = (method: MethodOutcome): string =>
  method.outcome.type !== "works" ? word(method.outcome) : remarks(method) === "" ? "same" : "differs";

const word = (outcome: Outcome): string =>
  outcome.type === "works" ? "works" : outcome.type === "refused" ? String(outcome.status) : "fails";

function remarks({ outcome, variants, note }: MethodOutcome): string {
  const refusals = Object.entries(variants).map(([name, other]) => `${name}: ${describe(other)}`);
  return [outcome.type === "works" ? "" : outcome.sentence, ...refusals, note ?? ""]
    .filter((part) => part !== "")
    .map((part) => part.replaceAll("|", "\\|").replaceAll("\n", " "))
    .join("<br>");
}

const describe = (outcome: Outcome): string =>
  outcome.type === "works" ? "accepted" : `${word(outcome)} ${outcome.sentence}`;
