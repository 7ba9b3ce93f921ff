import { MEMORY_SCOPES, PROPOSAL_STATES, SEARCH_KINDS } from "@tandem/context";
import {
  BACKENDS,
  CLAUDE_CODE_AUTHS,
  HUNK_KINDS,
  HUNK_ORIGINS,
  CONNECTION_DRIVERS,
  EFFORTS,
  PERMISSION_MODES,
  ROLES,
  RULE_ACTIONS,
  SESSION_STATUSES,
  TOOLSET_TOOLS,
} from "@tandem/protocol";
import { JOB_STATES, SCOPES } from "@tandem/storage";
import { expect, test } from "vitest";
import {
  AUTH_CHOICES,
  BACKEND_CHOICES,
  DRIVER_CHOICES,
  EFFORT_CHOICES,
  HUNK_KIND_CHOICES,
  HUNK_ORIGIN_CHOICES,
  JOB_STATE_CHOICES,
  LEVEL_CHOICES,
  MEMORY_SCOPE_CHOICES,
  PROPOSAL_STATE_CHOICES,
  ROLE_CHOICES,
  RULE_ACTION_CHOICES,
  SCOPE_CHOICES,
  SEARCH_KIND_CHOICES,
  STATUS_CHOICES,
  TOOL_CHOICES,
  WIRE_MODES,
} from "../option-choices.ts";
import { createProgram } from "../program.ts";
import { LOG_LEVELS } from "../server/log-line.ts";
import { cliReference } from "./cli-reference.ts";
import { configurationReference } from "./configuration-reference.ts";

// `vitest run -u` updates these files.
test("docs/reference/configuration.md matches the schema", async () => {
  await expect(configurationReference()).toMatchFileSnapshot("../../../../docs/reference/configuration.md");
});

test("docs/reference/cli.md matches the help", async () => {
  const core = await createProgram("0.0.0", async () => {}, []);
  const all = await createProgram("0.0.0", async () => {});
  await expect(cliReference(core, all)).toMatchFileSnapshot("../../../../docs/reference/cli.md");
});

test("the choices in the help match the schema", () => {
  expect(BACKEND_CHOICES.toSorted()).toEqual(BACKENDS.filter((name) => name !== "none").toSorted());
  expect(AUTH_CHOICES).toEqual([...CLAUDE_CODE_AUTHS]);
  expect(DRIVER_CHOICES).toEqual([...CONNECTION_DRIVERS]);
  expect(EFFORT_CHOICES).toEqual([...EFFORTS]);
  expect(ROLE_CHOICES).toEqual([...ROLES]);
  expect(RULE_ACTION_CHOICES).toEqual([...RULE_ACTIONS]);
  expect(Object.values(WIRE_MODES)).toEqual([...PERMISSION_MODES]);
  expect(SCOPE_CHOICES).toEqual([...SCOPES]);
  expect(STATUS_CHOICES).toEqual([...SESSION_STATUSES]);
  expect(TOOL_CHOICES).toEqual([...TOOLSET_TOOLS]);
  expect(LEVEL_CHOICES).toEqual([...LOG_LEVELS]);
  expect(MEMORY_SCOPE_CHOICES).toEqual([...MEMORY_SCOPES]);
  expect(SEARCH_KIND_CHOICES).toEqual([...SEARCH_KINDS]);
  expect(JOB_STATE_CHOICES).toEqual([...JOB_STATES]);
  expect(HUNK_KIND_CHOICES).toEqual([...HUNK_KINDS]);
  expect(HUNK_ORIGIN_CHOICES).toEqual([...HUNK_ORIGINS]);
  expect(PROPOSAL_STATE_CHOICES).toEqual([...PROPOSAL_STATES]);
});
