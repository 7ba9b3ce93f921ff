import { BACKENDS, CLAUDE_CODE_AUTHS, ROLES } from "@tandem/protocol";
import { expect, test } from "vitest";
import { AUTH_CHOICES, BACKEND_CHOICES, ROLE_CHOICES } from "../option-choices.ts";
import { createProgram } from "../program.ts";
import { cliReference } from "./cli-reference.ts";
import { configurationReference } from "./configuration-reference.ts";

// Written anew by `vitest run -u`.
test("docs/reference/configuration.md is what the schema says", async () => {
  await expect(configurationReference()).toMatchFileSnapshot("../../../../docs/reference/configuration.md");
});

test("docs/reference/cli.md is what the help says", async () => {
  const program = createProgram("0.0.0", async () => {});
  await expect(cliReference(program)).toMatchFileSnapshot("../../../../docs/reference/cli.md");
});

test("the choices in the help are those of the schema", () => {
  expect(BACKEND_CHOICES.toSorted()).toEqual(BACKENDS.filter((name) => name !== "none").toSorted());
  expect(AUTH_CHOICES).toEqual([...CLAUDE_CODE_AUTHS]);
  expect(ROLE_CHOICES).toEqual([...ROLES]);
});
