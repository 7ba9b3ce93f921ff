import { expect, test } from "vitest";
import { escapeHidden } from "./escape-hidden.ts";

test("escapes bidirectional and invisible characters and keeps all scripts", () => {
  expect(escapeHidden("rm \u202Eevas\u202C \u200Bx")).toBe("rm ⟨U+202E⟩evas⟨U+202C⟩ ⟨U+200B⟩x");
  const plain = "echo שלום سلام 👩‍💻 naïve\n\ttab";
  expect(escapeHidden(plain)).toBe(plain);
});
