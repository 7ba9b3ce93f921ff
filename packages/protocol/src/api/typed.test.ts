import { expect, test } from "vitest";
import { z } from "zod";
import { typed } from "./typed.ts";

interface Note {
  id: string;
  text?: string;
}

test("an outline and the type of its values name the same fields", () => {
  const outlines = () => [
    typed<Note>()(z.object({ id: z.string(), text: z.string().optional() })),
    typed<Note>()(z.looseObject({ id: z.string() })),
    // @ts-expect-error The outline renamed a required field.
    typed<Note>()(z.looseObject({ name: z.string() })),
    // @ts-expect-error The outline renamed an optional field.
    typed<Note>()(z.looseObject({ id: z.string(), words: z.string().optional() })),
    // @ts-expect-error The type has a field that the complete outline lacks.
    typed<Note>()(z.object({ id: z.string() })),
    // @ts-expect-error The field has another type.
    typed<Note>()(z.looseObject({ id: z.number() })),
  ];
  // Only the compiler reads them.
  expect(outlines).toBeTypeOf("function");
});
