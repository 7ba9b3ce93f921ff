import { expect, test } from "vitest";
import { sessionMachine } from "../../testing/session-machine.ts";

test("tandem triggers: add, list, show, turn off, rotate and remove", async () => {
  await using machine = await sessionMachine([]);
  await machine.run(["agents", "add", "--name", "greeter", "--model", "sonnet"]);
  await machine.run(["deployments", "create", "Triage it.", "--name", "report", "--agent", "greeter"]);
  const run = async (...args: string[]) => machine.run(["triggers", ...args]);
  expect((await run("list", "report")).stdout).toContain("No triggers");
  expect((await run("add", "report")).stderr).toContain("--github, --standard-webhooks and --hmac");
  expect((await run("add", "report", "--hmac", "{")).stderr).toContain("expects JSON");
  const made = await run(
    "add",
    "report",
    "--github",
    "--event",
    "issues.opened,push",
    "--message",
    "See {{issue.title}}",
  );
  expect(made).toMatchObject({ code: 0, stderr: "" });
  const [id, secret] = [/trig_\w+/, /[0-9a-f]{64}/].map((pattern) => pattern.exec(made.stdout)?.[0] ?? "");
  expect(made.stdout).toContain(`/v1/triggers/${id}`);
  expect(made.stdout).toContain("(shown once)");
  expect((await run("list", "report")).stdout).toMatch(/github +issues\.opened, push +on/);
  const shown = await run("show", "report", id!);
  expect(shown.stdout).toContain("See {{issue.title}}");
  expect(shown.stdout).toContain("No deliveries yet");
  expect(shown.stdout).not.toContain(secret!);
  expect((await run("off", "report", id!)).stdout).toBe(`${id} is off.\n`);
  const rotated = await run("rotate", "report", id!);
  expect(/[0-9a-f]{64}/.exec(rotated.stdout)?.[0]).not.toBe(secret);
  expect((await run("remove", "report", id!)).stdout).toBe(`Removed ${id}.\n`);
  expect((await run("show", "report", id!)).stderr).toContain("has no trigger");
});
