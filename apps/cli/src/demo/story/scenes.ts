import { join } from "node:path";
import { redactedThinking, reply, text, thinking, toolUse, type MessageReply } from "@tandem/rehearsal";
import type { DemoTurn } from "../demo-turn.ts";
import { PROMPTS } from "./prompts.ts";

/** One element per model response of the turn. */
type Scene = (folder: string, turn: DemoTurn) => readonly MessageReply[];

/** Plausible figures of a session whose prompt is mostly cached. */
const USAGE = {
  input_tokens: 1_840,
  output_tokens: 620,
  cache_read_input_tokens: 41_300,
  cache_creation_input_tokens: 2_900,
};

/** The next response of the story, if the turn's message belongs to it. */
export function playScene(turn: DemoTurn): MessageReply | undefined {
  const scene = Object.entries(SCENES).find(([prompt]) => turn.ask.includes(prompt))?.[1];
  if (!scene || turn.folder === undefined) return undefined;
  const last = turn.steps.at(-1);
  // A failed command is part of the story. Every other error is a denied call.
  if (last?.isError && !last.result.includes("Exit code")) {
    return text(`Understood. I did not continue: ${last.result.trim()}`);
  }
  const played = scene(turn.folder, turn)[turn.replies] ?? text("That was all for this task.");
  return reply([played], { usage: USAGE });
}

const read = (folder: string, name: string) => toolUse("Read", { file_path: join(folder, name) });
const edit = (folder: string, name: string, before: string, after: string) =>
  toolUse("Edit", { file_path: join(folder, name), old_string: before, new_string: after });
const bash = (command: string, description: string) => toolUse("Bash", { command, description });
const task = (subject: string, description: string) => toolUse("TaskCreate", { subject, description });
const begin = (id: number) => toolUse("TaskUpdate", { taskId: String(id), status: "in_progress" });
const complete = (id: number) => toolUse("TaskUpdate", { taskId: String(id), status: "completed" });
const findCallers = (folder: string) =>
  toolUse("Grep", { pattern: "refundedCents", path: folder, output_mode: "content" });

const SCENES: Readonly<Record<string, Scene>> = {
  [PROMPTS.refunds]: (folder) => [
    reply([
      thinking(
        "The report sums all rows of refunds. If the payment provider times out, the job books the same line again, so a line can occur twice. The catalogue says that a refund is identified by order and line.",
      ),
      text("I will check how refunds are summed up and what the tests cover."),
      findCallers(folder),
      read(folder, "src/refunds.ts"),
      read(folder, "test/refunds.test.ts"),
    ]),
    reply([
      task("Write a failing test", "A line that was booked twice."),
      task("Count each line once", "Group by order and line."),
      task("Run all tests", "Confirm the fix."),
    ]),
    reply([
      begin(1),
      edit(
        folder,
        "test/refunds.test.ts",
        "  assert.equal(refundedCents(refunds, 4711), 3_990);\n});\n",
        `  assert.equal(refundedCents(refunds, 4711), 3_990);
});

test("counts a retried refund once", () => {
  const retried = { ...refund, bookedAt: "2026-11-02T09:14:31Z" };
  assert.equal(refundedCents([refund, retried], 4711), 2_490);
});
`,
      ),
    ]),
    reply([complete(1), begin(2), bash("node --test", "Run the tests")]),
    reply([
      redactedThinking("bWFkZS11cA=="),
      text("The new test fails as expected: the line is counted twice. Now I fix the function."),
      edit(
        folder,
        "src/refunds.ts",
        `  return refunds
    .filter((refund) => refund.orderId === orderId)
    .reduce((sum, refund) => sum + refund.cents, 0);
`,
        `  const ofOrder = refunds.filter((refund) => refund.orderId === orderId);
  const byLine = new Map(ofOrder.map((refund) => [refund.lineNo, refund]));
  return [...byLine.values()].reduce((sum, refund) => sum + refund.cents, 0);
`,
      ),
    ]),
    reply([complete(2), begin(3), bash("node --test", "Run the tests again")]),
    complete(3),
    text(
      "Fixed: a line that was booked twice counts once, and the last booking wins.\n\n| Order | Before | Now |\n|---|---:|---:|\n| 4711, line 1, retried | 49.80 € | **24.90 €** |\n| 4711, two lines | 39.90 € | 39.90 € |\n\n```ts\nconst byLine = new Map(ofOrder.map((refund) => [refund.lineNo, refund]));\n```\n\nAll tests pass. The monthly report calls `refundedCents`, so it needs no change.",
    ),
  ],
  [PROMPTS.firstBooking]: (folder) => [
    reply([text("The map keeps the last booking of a line. I reverse the order."), read(folder, "src/refunds.ts")]),
    edit(
      folder,
      "src/refunds.ts",
      "  const byLine = new Map(ofOrder.map(",
      "  // If a line was booked twice, the first booking counts.\n  const byLine = new Map(ofOrder.toReversed().map(",
    ),
    text("The first booking counts now, and the comment says so."),
  ],
  [PROMPTS.newestBooking]: (folder) => [
    reply([
      text("The map already does this: a later booking replaces an earlier one. I add a comment."),
      read(folder, "src/refunds.ts"),
    ]),
    edit(
      folder,
      "src/refunds.ts",
      "  const byLine = new Map(",
      "  // If a line was booked twice, the newest booking counts.\n  const byLine = new Map(",
    ),
    text("Only the comment had to change."),
  ],
  [PROMPTS.shipping]: (folder) => [
    reply([text("The limit is a constant in one file. I will change it there."), read(folder, "src/shipping.ts")]),
    edit(folder, "src/shipping.ts", "const FREE_FROM_CENTS = 5_000;", "const FREE_FROM_CENTS = 6_000;"),
    text(
      "Orders of 60 € and more ship for free now. **Changes** shows the diff. To undo it, choose **Rewind** on your message.",
    ),
  ],
  [PROMPTS.push]: () => [
    bash("git push origin refunds-once", "Push the branch with the fix"),
    text("Pushed `refunds-once`."),
  ],
  [PROMPTS.newsletter]: (_folder, turn) => [
    reply([
      text("Two documents define an active customer differently, so I ask before I build the list."),
      toolUse("AskUserQuestion", {
        questions: [
          {
            question: "Who should get the spring newsletter?",
            header: "Recipients",
            multiSelect: false,
            options: [
              { label: "Ordered within 90 days", description: "The definition in the monthly report: 1,204 people." },
              {
                label: "Ordered within 12 months",
                description: "The definition in the newsletter handbook: 3,877 people.",
              },
              { label: "Subscribers only", description: "Everyone who signed up for the newsletter: 2,310 people." },
            ],
          },
        ],
      }),
    ]),
    text(`Thank you. I will use your answer for the list.\n\n> ${turn.steps.at(-1)?.result.trim() ?? ""}`),
  ],
  [PROMPTS.plan]: (folder, turn) => [
    toolUse("Write", { file_path: turn.planFile ?? join(folder, "plan.md"), content: PLAN }),
    toolUse("ExitPlanMode", { allowedPrompts: [{ tool: "Bash", prompt: "run the tests" }] }),
    reply([
      text("I start with step 1: a migration that adds the new column."),
      toolUse("Write", { file_path: join(folder, "migrations/001-price-cents.sql"), content: MIGRATION }),
    ]),
    text("The migration is written. Run it on a copy of the database first, then I continue with step 2."),
  ],
  [PROMPTS.review]: () => [
    reply([
      text("A scout looks for callers while I read the change."),
      toolUse("Agent", {
        description: "Find callers of refundedCents",
        prompt: PROMPTS.callers,
        subagent_type: "Scout",
        run_in_background: false,
      }),
    ]),
    text(
      "**Two remarks, neither blocks the merge.**\n\n1. `refundedCents` filters before it groups. That is fast enough for 900 orders a month.\n2. The scout found one caller besides the tests: the monthly report. It does not rely on duplicates.\n\nI would merge it.",
    ),
  ],
  [PROMPTS.callers]: (folder) => [
    findCallers(folder),
    text("One caller besides the tests: the monthly report. It passes rows unchanged and expects each line once."),
  ],
  [PROMPTS.stock]: (folder) => [
    reply([
      text("I compare sales since October with the stock, and check the refunds before I recommend anything."),
      toolUse("Grep", { pattern: "stock", path: join(folder, "docs"), output_mode: "files_with_matches" }),
      read(folder, "docs/data-dictionary.md"),
    ]),
    text(
      "Reorder **city bikes** first: 41 of 60 were sold since October.\n\n- *Harbour 7*: 18 sold, 2 left. A delivery is due on Thursday.\n- *Pier 3*: 14 sold, 6 left. **Reorder 10.**\n- *Lighthouse E*: 9 sold, 11 left. It has twice the returns of the others, mostly because of the battery. **Do not reorder** before the supplier has checked the serial numbers.",
    ),
  ],
};

const PLAN = `# Prices in cents

Prices are floating-point euros in three places. Sums are off by a cent in 0.4 % of the orders.

1. **Migrate** \`products.price\` to \`price_cents\` and keep both columns for one release
2. **Read** cents everywhere: basket, shipping, refunds
3. **Compare** old and new sums of last month's orders
4. Drop the old column

| Step | Files | Risk |
|---|---|---|
| Migrate | 1 | Low: the old column stays |
| Read | 6 | Sums change by a cent |
| Compare | 1 | None |

Rollback is possible until step 4, because the old column is still written.
`;

const MIGRATION = `alter table products add column price_cents integer;
update products set price_cents = round(price * 100);
`;
