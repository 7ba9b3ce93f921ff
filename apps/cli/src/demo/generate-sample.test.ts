import { expect, test } from "vitest";
import { z } from "zod";
import { generateSample } from "./generate-sample.ts";

const schema = z.object({
  name: z.string().min(8),
  kind: z.enum(["a", "b"]),
  count: z.int().min(3),
  tags: z.array(z.string()).min(1),
  nested: z.object({ ok: z.boolean(), nothing: z.null() }),
  either: z.union([z.number(), z.string()]),
});

test("a sample matches its schema", () => {
  expect(schema.safeParse(generateSample(z.toJSONSchema(schema))).error).toBeUndefined();
});
