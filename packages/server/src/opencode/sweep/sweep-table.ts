import { OPENCODE_VERSION } from "../projection/session-info.ts";
import type { SdkMethod } from "./sdk-methods.ts";

export interface SdkOutcome extends Pick<SdkMethod, "name" | "address" | "responses"> {
  status: number;
  /** The answer, or the server's sentence. */
  answer: unknown;
  sentence?: string;
}

const INTRODUCTION = `# Calls of opencode's SDK

A test calls every method of \`@opencode-ai/sdk\` ${OPENCODE_VERSION} on a Tandem server, has the compiler check the answers against the
SDK's types, and writes this page. [The guide](../guides/opencode.md) describes how the calls map to Tandem.

The names are those of \`@opencode-ai/sdk/v2\`, the client of this release; the older client of \`@opencode-ai/sdk\` has most of the same
calls. Its \`v2\` part is opencode's second API, which is not served.
`;

/** Renders the outcomes of a sweep. Groups that are refused alike are one row. */
export function sweepTable(outcomes: readonly SdkOutcome[]): string {
  const rows = rowsOf(outcomes, 0);
  const works = outcomes.filter(({ sentence }) => sentence === undefined).length;
  const count = `${works} of ${outcomes.length} methods work. The others answer with the error in the last column.\n`;
  const table = [["method", "call", "outcome", ""], ["---", "---", "---", "---"], ...rows];
  return [INTRODUCTION, count, table.map((cells) => `| ${cells.join(" | ")} |`).join("\n"), ""].join("\n");
}

function rowsOf(outcomes: readonly SdkOutcome[], depth: number): string[][] {
  const groups = Map.groupBy(outcomes, ({ name }) =>
    name
      .split(".")
      .slice(0, depth + 1)
      .join("."),
  );
  return [...groups].flatMap(([group, members]): string[][] => {
    const [first] = members;
    const isOne = members.length === 1 && first!.name.split(".").length <= depth + 1;
    if (isOne) return [[`\`${first!.name}\``, `\`${first!.address}\``, ...outcomeOf(first!)]];
    const isAlike = first!.sentence !== undefined && members.every(({ sentence }) => sentence === first!.sentence);
    if (isAlike && members.length > 1)
      return [[`\`${group}.*\` (${members.length} methods)`, "", ...outcomeOf(first!)]];
    return rowsOf(members, depth + 1);
  });
}

const outcomeOf = ({ status, sentence }: SdkOutcome): string[] =>
  sentence === undefined ? ["works", ""] : [String(status), sentence.replaceAll("|", String.raw`\|`)];
