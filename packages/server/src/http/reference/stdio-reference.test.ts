import { expect, test } from "vitest";
import { stdioReference } from "../../stdio/stdio-reference.ts";

// `vitest run -u` rewrites it. It is in this folder so that one command updates both references after a route is added.
test("docs/reference/stdio.md matches the routes", async () => {
  await expect(stdioReference()).toMatchFileSnapshot("../../../../../docs/reference/stdio.md");
});
