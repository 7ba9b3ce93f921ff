import { expect, test } from "vitest";
import { stdioReference } from "../../stdio/stdio-reference.ts";

// Written anew by `vitest run -u`; here, so that whoever adds a route writes both references at once.
test("docs/reference/stdio.md is what the routes say", async () => {
  await expect(stdioReference()).toMatchFileSnapshot("../../../../../docs/reference/stdio.md");
});
