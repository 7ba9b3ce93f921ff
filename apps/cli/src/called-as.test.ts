import { expect, test } from "vitest";
import { asCalled, calledAs } from "./called-as.ts";

test.each([
  ["tandem", {}],
  ["tandem", { npm_lifecycle_event: "test", npm_lifecycle_script: "vitest" }],
  ["tandem", { npm_lifecycle_event: "npx", npm_lifecycle_script: "vitest run" }],
  ["npx tandem", { npm_lifecycle_event: "npx", npm_lifecycle_script: "tandem" }],
  ["npx tandem", { npm_lifecycle_event: "npx", npm_lifecycle_script: "'tandem' up" }],
  ["npx tandem-agent-server", { npm_lifecycle_event: "npx", npm_lifecycle_script: "tandem-agent-server up" }],
  ["npx tandem", { npm_lifecycle_event: "start", npm_package_name: "tandem-monorepo" }],
  ["tandem", { npm_lifecycle_event: "start", npm_package_name: "my-app" }],
])("the command is called %s with %j", (name, env) => {
  expect(calledAs(env)).toBe(name);
});

test("hints name the command as it was called", () => {
  const env = { npm_lifecycle_event: "npx", npm_lifecycle_script: "tandem" };
  expect(asCalled('Try `tandem run "x"`, then tandem open. See ~/tandem and Tandem.', env)).toBe(
    'Try `npx tandem run "x"`, then npx tandem open. See ~/tandem and Tandem.',
  );
  expect(asCalled("Run `tandem doctor`.", {})).toBe("Run `tandem doctor`.");
});
