import { expect, test } from "vitest";
import { citeText } from "./cite-text.ts";

test("numbers citations in order of first use", () => {
  const { text, citations } = citeText("# Title\n\nOne. [^docs/a#x]\n\nTwo. [^docs/b] [^docs/a#x]\n");
  expect(text).toBe("One. [1](<cite:docs/a#x>)\n\nTwo. [2](<cite:docs/b>) [1](<cite:docs/a#x>)");
  expect(citations).toEqual(["docs/a#x", "docs/b"]);
});

test("leaves code and later headings unchanged", () => {
  const body = "# Title\n\n```md\n# Not this [^x]\n```\n\n# Other\n";
  expect(citeText(body)).toEqual({ text: "```md\n# Not this [^x]\n```\n\n# Other", citations: [] });
});
