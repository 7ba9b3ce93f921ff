import { expect, it } from "vitest";
import { z } from "zod";
import { acceptObjectSchema, describeViolations } from "./accept-request.ts";

it("converts the schema to draft 7, without the key that Claude Code rejects", () => {
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

it("explains violations and their paths", () => {
  const schema = z.object({ city: z.object({ inhabitants: z.int().positive() }) });
  expect(describeViolations(schema, { city: { inhabitants: -3 } })).toMatch(/Too small[^]*city\.inhabitants/);
  expect(describeViolations(schema, { city: { inhabitants: 3 } })).toBeUndefined();
});
