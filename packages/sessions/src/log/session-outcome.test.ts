import type { SessionEventBody } from "@tandem/protocol";
import { expect, test } from "vitest";
import type { Entry } from "./outbox.ts";
import { foldOutcome } from "./session-outcome.ts";

const entry = (body: SessionEventBody, thread: Entry["thread"] = null): Entry =>
  ({ thread, event: { ...body, id: "sevt_1", processed_at: null } }) as Entry;
const says = (text: string, thread: Entry["thread"] = null): Entry =>
  entry({ type: "agent.message", content: [{ type: "text", text }] }, thread);

test("keeps the last line of the last answer of the main agent, without Markdown", () => {
  const { text } = foldOutcome(undefined, [
    says("I look."),
    says("# Report\n\n- **Fixed** the `total` in [cart](cart.ts)\n\n```ts\nconst a = 1;\n```\n"),
    says("The subagent ends.", "sthr_2" as Entry["thread"]),
  ]);
  expect(text).toBe("Fixed the total in cart");
});

test("keeps changed files, the branch and the failure, until the next message or a rewind", () => {
  const checkpoint = { checkpoint_id: "ckpt_1", message_id: null, files_changed: 2, skipped: 0 } as const;
  const error = { type: "billing_error", message: "No credit.", retry_status: { type: "terminal" } } as const;
  const done = foldOutcome(undefined, [
    entry({ type: "session.error", error: { ...error, retry_status: { type: "retrying" } } }),
    says("Done."),
    entry({
      type: "tandem.checkpoint",
      when: "after",
      ...checkpoint,
      total: { files: 2, added: 5, removed: 1 },
      branch: "main",
    }),
  ]);
  expect(done).toEqual({ text: "Done.", error: null, files: 2, added: 5, removed: 1, branch: "main" });
  const failed = foldOutcome(done, [entry({ type: "session.error", error })]);
  expect(failed).toMatchObject({ text: "Done.", error: "No credit." });
  expect(foldOutcome(failed, [entry({ type: "user.message", content: [] })]).error).toBeNull();
  const rewound = {
    type: "tandem.rewound",
    to_message_id: null,
    checkpoint_id: null,
    undo_checkpoint_id: null,
  } as const;
  expect(foldOutcome(failed, [entry({ ...rewound, scope: "both", files: 2 })])).toMatchObject({
    text: null,
    error: null,
    files: null,
    branch: "main",
  });
});
