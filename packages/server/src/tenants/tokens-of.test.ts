import { newId } from "@tandem/protocol";
import type { TokenRow } from "@tandem/storage";
import { expect, test } from "vitest";
import { memoryTokens } from "../testing/memory-tokens.ts";
import { tokensOf } from "./tokens-of.ts";

const row = (name: string, tenant: string): TokenRow => ({
  id: newId("token"),
  name,
  tenant,
  sha256: name,
  scopes: ["admin"],
  lastUsedAt: null,
  createdAt: new Date().toISOString(),
});

test("a tenant can list, revoke and create only its own tokens", async () => {
  const all = memoryTokens();
  const [theirs, own] = [row("theirs", "acme"), row("own", "zeta")];
  await all.create(theirs);
  const tokens = tokensOf(all, "zeta");
  await tokens.create(own);
  await tokens.create(row("forged", "acme"));
  expect((await tokens.list()).map(({ name, tenant }) => [name, tenant])).toEqual([
    ["own", "zeta"],
    ["forged", "zeta"],
  ]);
  expect(await tokens.findByHash("theirs")).toBeUndefined();
  expect(await tokens.delete(theirs.id)).toBe(false);
  expect(await tokens.delete(own.id)).toBe(true);
  expect(await all.findByHash("theirs")).toBeDefined();
});
