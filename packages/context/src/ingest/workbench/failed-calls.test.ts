import { defineTool } from "@tandem/runtime";
import { expect, test } from "vitest";
import { z } from "zod";
import { describeCall, FailedCalls } from "./failed-calls.ts";

const write = defineTool({
  name: "page_write",
  description: "Writes a page.",
  schema: z.object({ path: z.string(), text: z.string() }),
  execute: async ({ path, text }) => {
    if (text === "") throw new Error("A page needs a text.");
    return { markdown: `Wrote ${path}.` };
  },
});
const context = { signal: new AbortController().signal };

test("a failed call is listed, unless it was repeated with success", async () => {
  const failed = new FailedCalls();
  const [tool] = failed.watch([write]);
  await expect(tool!.execute({ path: "a.md", text: "" }, context)).rejects.toThrow("needs a text");
  await expect(tool!.execute({ path: "b.md", text: "" }, context)).rejects.toThrow("needs a text");
  await expect(tool!.execute({ path: "b.md" }, context)).rejects.toThrow("does not fit");
  expect(failed.left).toHaveLength(2);
  expect(await tool!.execute({ path: "b.md", text: "B" }, context)).toEqual({ markdown: "Wrote b.md." });
  expect(failed.left.map(describeCall)).toEqual(["page_write (a.md) failed: A page needs a text."]);
});

test("a cancelled call has not failed", async () => {
  const failed = new FailedCalls();
  const [tool] = failed.watch([write]);
  await expect(tool!.execute({ path: "a.md", text: "" }, { signal: AbortSignal.abort() })).rejects.toThrow("a text");
  expect(failed.left).toEqual([]);
});
