import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type MessageReply,
  type ModelRequest,
  type Reply,
  type Script,
  redactedThinking,
  reply,
  text,
  thinking,
  toolUse,
} from "@tandem/rehearsal";

type Step = Reply | ((request: ModelRequest) => Reply);

/** The scripted model of Harbour Bikes: the message names the scene, and each model response is its next step. */
export function story(project: string): Script {
  const file = (name: string): string => join(project, name);
  const read = (name: string) => toolUse("Read", { file_path: file(name) });
  const edit = (name: string, before: string, after: string) =>
    toolUse("Edit", { file_path: file(name), old_string: before, new_string: after });
  const bash = (command: string, description: string) => toolUse("Bash", { command, description });
  const done = (...ids: number[]) =>
    ids.map((id) => toolUse("TaskUpdate", { taskId: String(id), status: "completed" }));
  const begun = (id: number) => toolUse("TaskUpdate", { taskId: String(id), status: "in_progress" });
  const planFile = ({ body }: ModelRequest): string =>
    /[^"\\ ]*plans\/[\w-]+\.md/.exec(JSON.stringify(body))?.[0] ?? "";

  const scenes: Readonly<Record<string, readonly Step[]>> = {
    "counted twice": [
      step([
        thinking(
          "The report adds up all rows of refunds. When the payment provider times out, the job books the same line again, so a line can be there twice. The key of a refund is order and line, as the catalogue says.",
        ),
        text("I look at how refunds are added up, and at what the tests know about it."),
        toolUse("Grep", { pattern: "refundedCents", path: project, output_mode: "content" }),
        read("src/refunds.ts"),
        read("test/refunds.test.ts"),
      ]),
      step([
        toolUse("TaskCreate", { subject: "Write a test that fails", description: "A line booked twice." }),
        toolUse("TaskCreate", { subject: "Count each line once", description: "By order and line." }),
        toolUse("TaskCreate", { subject: "Run all tests", description: "And read what they say." }),
      ]),
      step([
        begun(1),
        edit(
          "test/refunds.test.ts",
          "  assert.equal(refundedCents(refunds, 4711), 3_990);\n});\n",
          `  assert.equal(refundedCents(refunds, 4711), 3_990);
});

test("a refund that was retried counts once", () => {
  const again = { ...refund, bookedAt: "2026-11-02T09:14:31Z" };
  assert.equal(refundedCents([refund, again], 4711), 2_490);
});
`,
        ),
      ]),
      step([...done(1), begun(2), bash("node --test", "Run the tests")]),
      step([
        redactedThinking("bWFkZS11cA=="),
        text("The new test fails, as it should: the line is counted twice. Now the function itself."),
        edit(
          "src/refunds.ts",
          `  return refunds
    .filter((refund) => refund.orderId === orderId)
    .reduce((sum, refund) => sum + refund.cents, 0);
`,
          `  const byLine = new Map(refunds.filter((refund) => refund.orderId === orderId).map((refund) => [refund.lineNo, refund]));
  return [...byLine.values()].reduce((sum, refund) => sum + refund.cents, 0);
`,
        ),
      ]),
      step([...done(2), begun(3), bash("node --test", "Run the tests again")]),
      step(done(3)),
      step([
        text(
          "Done: a line that was booked twice counts once, and the last booking wins.\n\n| order | before | now |\n|---|---:|---:|\n| 4711, line 1, retried | 49.80 € | **24.90 €** |\n| 4711, two lines | 39.90 € | 39.90 € |\n\n```ts\nconst byLine = new Map(refunds.map((refund) => [refund.lineNo, refund]));\n```\n\nAll tests pass. The monthly report needs no change: it calls `refundedCents`.",
        ),
      ]),
    ],
    "first booking": [
      step([
        text("Then the map must keep what it has."),
        read("src/refunds.ts"),
        edit(
          "src/refunds.ts",
          "/** What was paid back for an order, in cents. */",
          "/** What was paid back for an order, in cents. Of a line that was booked twice, the first booking counts. */",
        ),
      ]),
      step([text("The first booking counts now, and the comment says so.")]),
    ],
    "newest booking": [
      step([
        text("That is what the map does already: a later booking takes the place of the earlier one. I say so."),
        read("src/refunds.ts"),
        edit(
          "src/refunds.ts",
          "/** What was paid back for an order, in cents. */",
          "/** What was paid back for an order, in cents. A line that is booked again replaces what was booked before. */",
        ),
      ]),
      step([text("Nothing but the comment had to change.")]),
    ],
    "free shipping": [
      step([text("The limit stands in one place. I raise it there."), read("src/shipping.ts")]),
      step([edit("src/shipping.ts", "const FREE_FROM_CENTS = 5_000;", "const FREE_FROM_CENTS = 6_000;")]),
      step([text("Orders of 60 € and more are sent for free.")]),
    ],
    "Push the branch": [
      step([bash("git push origin refunds-once", "Push the branch with the fix")]),
      step([text("Pushed.")]),
    ],
    "spring letter": [
      step([
        text("Two documents disagree about who is an active customer, so I ask before I write to anybody."),
        toolUse("AskUserQuestion", {
          questions: [
            {
              question: "Who should get the spring letter?",
              header: "Recipients",
              multiSelect: false,
              options: [
                {
                  label: "Ordered within 90 days",
                  description: "As the monthly report counts active customers: 1,204 people.",
                },
                { label: "Ordered within 12 months", description: "As the newsletter handbook says: 3,877 people." },
                { label: "Subscribers only", description: "Whoever asked for the newsletter: 2,310 people." },
              ],
            },
          ],
        }),
      ]),
      step([text("Noted.")]),
    ],
    "prices to cents": [
      (request) => step([toolUse("Write", { file_path: planFile(request), content: PLAN })]),
      step([toolUse("ExitPlanMode", { allowedPrompts: [{ tool: "Bash", prompt: "run the tests" }] })]),
      step([text("Carried out.")]),
    ],
    "Review what changed": [
      step([
        text("I send a scout over the callers, and read the change myself."),
        toolUse("Agent", {
          description: "Look for callers of refundedCents",
          prompt: "Find every caller of refundedCents and say whether it relies on duplicates.",
          subagent_type: "scout",
          run_in_background: false,
        }),
      ]),
      step([
        text(
          "**Two remarks, nothing that blocks.**\n\n1. `refundedCents` filters before it groups: with 900 orders a month that is fine.\n2. The scout found one caller, the monthly report. It does not rely on duplicates.\n\nI would merge it.",
        ),
      ]),
    ],
    "Find every caller": [
      step([toolUse("Grep", { pattern: "refundedCents", path: project, output_mode: "content" })]),
      step([
        text(
          "One caller beside the tests: the monthly report. It passes rows as they are, and expects each line once.",
        ),
      ]),
    ],
    "Which bikes": [
      step([
        text(
          "I compare what was sold since October with what is left, and look at the refunds before I recommend anything.",
        ),
        toolUse("Grep", { pattern: "stock", path: join(project, "docs"), output_mode: "files_with_matches" }),
        read("docs/data-dictionary.md"),
      ]),
      slow(
        "The stock of **city bikes** falls fastest: 41 of 60 were sold since October.\n\n- *Harbour 7*: 18 sold, 2 left, a delivery is due on Thursday\n- *Pier 3*: 14 sold, 6 left\n- *Lighthouse E*: 9 sold, 11 left, but returns are twice those of the others\n\nThe refunds of Lighthouse E are about the battery in most cases. I compare its serial numbers with the supplier's list",
      ),
    ],
  };

  const sceneOf = (words: string): readonly Step[] | undefined =>
    Object.entries(scenes).find(([name]) => words.includes(name))?.[1];
  return async (request) => {
    const { messages } = request;
    const from = messages.findLastIndex(
      ({ role, content }) => role === "user" && sceneOf(wordsOf(content)) !== undefined,
    );
    if (from === -1) return text("Good.");
    const at = messages.slice(from).filter(({ role }) => role === "assistant").length;
    const next = sceneOf(wordsOf(messages[from]!.content))![at] ?? text("That is all.");
    await sleep(250);
    const said = typeof next === "function" ? next(request) : next;
    // A fork works in its own worktree.
    const place = /[^"\\\s]*\/worktrees\/sesn_\w+/.exec(JSON.stringify(request.body))?.[0] ?? project;
    return JSON.parse(JSON.stringify(said).replaceAll(project, place)) as Reply;
  };
}

const PLAN = `# Prices in cents

Prices are floating-point euros in three places; sums are off by a cent in 0.4 % of the orders.

1. **Migrate** \`products.price\` to \`price_cents\`, with both columns for one release
2. **Read** cents everywhere: basket, shipping, refunds
3. **Check** last month's orders: old and new sums side by side
4. Drop the old column

| step | files | risk |
|---|---|---|
| Migrate | 1 | low: the old column stays |
| Read | 6 | sums change by a cent |
| Check | 1 | none |

Undo at any point: the old column is written until step 4.
`;

/** Most of a request's prompt is cached. */
const USAGE = {
  input_tokens: 1_840,
  output_tokens: 620,
  cache_read_input_tokens: 41_300,
  cache_creation_input_tokens: 2_900,
};

const step = (parts: readonly MessageReply[]): Reply => reply(parts, { usage: USAGE });

const slow = (words: string): Reply => text(words, { usage: USAGE, pace: { tokenMs: 1_500 } });

const wordsOf = (content: readonly { readonly type: string; readonly [key: string]: unknown }[]): string =>
  content
    .flatMap(({ type, ["text"]: words }) => (type === "text" && typeof words === "string" ? [words] : []))
    .join("\n")
    .replaceAll(/<system-reminder>.*?<\/system-reminder>/gs, "");
