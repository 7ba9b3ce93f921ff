import { expect, it } from "vitest";
import { z } from "zod";
import { acceptObjectSchema, describeMisfit } from "./accept-request.ts";

it("gives what the model is to write, in draft 7, without the key that Claude Code does not start with", () => {
  const schema = z.object({
    name: z.string(),
    tags: z.array(z.string()).default([]),
    size: z.string().transform(Number),
  });
  expect(acceptObjectSchema(schema)).toEqual({
    type: "object",
    properties: {
      name: { type: "string" },
      tags: { type: "array", items: { type: "string" }, default: [] },
      size: { type: "string" },
    },
    required: ["name", "size"],
  });
});

it("says in words what does not fit, and where", () => {
  const schema = z.object({ city: z.object({ inhabitants: z.int().positive() }) });
  expect(describeMisfit(schema, { city: { inhabitants: -3 } })).toMatch(/Too small[^]*city\.inhabitants/);
  expect(describeMisfit(schema, { city: { inhabitants: 3 } })).toBeUndefined();
});
