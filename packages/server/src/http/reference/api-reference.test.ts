import { expect, test } from "vitest";
import { apiReference } from "./api-reference.ts";

// `vitest run -u` rewrites it.
test("docs/reference/api.md matches the routes", async () => {
  await expect(apiReference()).toMatchFileSnapshot("../../../../../docs/reference/api.md");
});
