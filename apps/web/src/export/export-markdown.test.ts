import type { Message } from "@tandem/protocol";
import { expect, test } from "vitest";
import { toMarkdown } from "./export-markdown.ts";

const message = (role: Message["role"], parts: Message["parts"]): Message => ({
  id: "m",
  role,
  thread: null,
  turn: "m",
  seq: 1,
  created_at: null,
  parts,
});

test("exports messages and calls as Markdown", () => {
  const text = toMarkdown("A title", [
    message("user", [{ type: "text", id: "1", at: null, text: "Look." }]),
    message("agent", [
      { type: "reasoning", id: "2", at: null, text: "Where?\nThere.", signature: null },
      {
        type: "tool",
        id: "3",
        at: null,
        kind: "builtin",
        name: "Bash",
        input: { command: "echo '`x`'" },
        permission: null,
        state: { type: "completed", started_at: null, ended_at: "", output: [{ type: "text", text: "```\n" }] },
      },
      { type: "text", id: "4", at: null, text: "Done." },
    ]),
  ]);
  expect(text).toBe(
    "# A title\n\n## You\n\nLook.\n\n> Where?\n> There.\n\n**Ran** `` echo '`x`' ``\n\n````\n```\n\n````\n\nDone.\n",
  );
});
