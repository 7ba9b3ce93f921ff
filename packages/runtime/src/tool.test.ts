import { expect, it } from "vitest";
import { z } from "zod";
import { defineTool } from "./tool.ts";

const base = {
  name: "look",
  description: "Looks.",
  schema: z.object({ at: z.string().trim(), depth: z.int().default(1) }),
  execute: async (input: unknown) => ({ markdown: JSON.stringify(input) }),
};
const context = { signal: new AbortController().signal };

it("parses the input before the tool runs", async () => {
  expect(await defineTool(base).execute({ at: " here " }, context)).toEqual({ markdown: '{"at":"here","depth":1}' });
});

it("explains invalid input to the model", async () => {
  await expect(defineTool(base).execute({ at: 7 }, context)).rejects.toThrow(/does not fit[^]*expected string[^]*at/);
});

it.each([
  ["a schema that is no object", { schema: z.array(z.string()) as unknown as typeof base.schema }],
  ["a schema that JSON cannot express", { schema: z.object({ at: z.date() }) as unknown as typeof base.schema }],
  ["a name with a space", { name: "look here" }],
  ["a name that is too long", { name: "x".repeat(49) }],
])("rejects %s at definition", (_what, change) => {
  expect(() => defineTool({ ...base, ...change })).toThrow(
    expect.objectContaining({ code: "bad_tool", fix: expect.stringMatching(/\w/) }),
  );
});
