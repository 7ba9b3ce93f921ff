import { DEFAULT_TENANT } from "@tandem/storage";
import { expect, test } from "vitest";
import { refuseReference } from "./refuse-reference.ts";

const REFERENCES = ["env:ANTHROPIC_API_KEY", "file:/etc/passwd", "command:touch /tmp/here"];

test("only the operator's admins name references to secrets of the server", () => {
  for (const reference of REFERENCES) {
    refuseReference({ tenant: DEFAULT_TENANT, scopes: ["admin"] }, reference);
    expect(() => refuseReference({ tenant: DEFAULT_TENANT, scopes: ["run"] }, reference)).toThrow(/admins/);
    // An admin of a tenant does not run this machine.
    expect(() => refuseReference({ tenant: "acme", scopes: ["admin"] }, reference)).toThrow(/admins/);
  }
});

test("every token may send the repository's own token", () => {
  expect(() => refuseReference({ tenant: "acme", scopes: ["run"] }, "ghp_0123456789")).not.toThrow();
  expect(() => refuseReference({ tenant: "acme", scopes: ["run"] }, undefined)).not.toThrow();
});
