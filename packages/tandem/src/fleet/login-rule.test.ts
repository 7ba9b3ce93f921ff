import { expect, test } from "vitest";
import { ownerOfLogin } from "./login-rule.ts";

test("a worker on a personal login requires exactly one named tenant", () => {
  expect(ownerOfLogin("worker", ["anna"], "claude_login")).toBe("anna");
  expect(ownerOfLogin("worker", ["anna"], "claude_oauth_token")).toBe("anna");
  expect(() => ownerOfLogin("worker", null, "claude_login")).toThrow(
    "This worker would run the sessions of all users on your Claude login, which is only for you.",
  );
  expect(() => ownerOfLogin("worker", ["anna", "bob"], "claude_oauth_token")).toThrow(
    "This worker would run the sessions of anna and bob on a token of your Claude login, which is only for you.",
  );
  expect(() => ownerOfLogin("worker", [], "claude_login")).toThrow(/which is only for you/);
});

test("a shareable credential may serve all tenants, and the server role runs no turns", () => {
  for (const payer of ["anthropic_api_key", "gateway_key", "nobody"] as const) {
    expect(ownerOfLogin("worker", null, payer)).toBeUndefined();
  }
  expect(ownerOfLogin("server", null, "claude_login")).toBeUndefined();
  expect(ownerOfLogin("all", null, "claude_login")).toBeUndefined();
});
