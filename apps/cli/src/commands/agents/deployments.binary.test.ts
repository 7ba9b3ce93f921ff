import { always, text } from "@tandem/rehearsal";
import { expect, test } from "vitest";
import { sessionMachine } from "../../testing/session-machine.ts";

const CREATE = ["deployments", "create", "Say hello.", "--name", "report", "--agent", "greeter"];

test("tandem deployments with a server: create, list, show, update, pause, run, runs, archive", async () => {
  await using machine = await sessionMachine([always(text("Hello."))]);
  await using _ = await machine.up();
  const run = async (...args: string[]) => machine.run(["deployments", ...args]);
  expect((await run()).stdout).toContain("No deployments yet");
  await machine.run(["agents", "add", "--name", "greeter", "--model", "sonnet", "--ask", "bash"]);
  const made = await machine.run([
    ...CREATE,
    "--cron",
    "0 9 * * 1-5",
    "--timezone",
    "Europe/Berlin",
    "--budget",
    "2.5",
  ]);
  expect(made).toMatchObject({ code: 0, stderr: "" });
  expect(made.stdout).toMatch(/schedule +every weekday at 09:00 \(Europe\/Berlin\)/);
  expect(made.stdout.match(/(Mon|Tue|Wed|Thu|Fri), \d+ \w+ \d{4},? (at )?09:00/g)).toHaveLength(5);
  expect(made.stdout).toMatch(/budget +\$2\.50 per session/);
  expect(made.stdout).toMatch(/warning +The agent's policy asks before calls of bash/);
  expect((await run("list")).stdout).toMatch(/report +every weekday at 09:00 \(Europe\/Berlin\) +next/);

  expect((await run("update", "report", "--cron", "*/15 * * * *")).stdout).toContain(
    "every 15 minutes (Europe/Berlin)",
  );
  expect((await run("update", "report", "--no-schedule")).stdout).toContain("on request only");
  expect((await run("update", "report", "--cron", "0 0 31 2 *")).stderr).toContain("it never matches");
  expect((await run("pause", "report")).stdout).toContain("paused");
  const started = await run("run", "report");
  expect(started).toMatchObject({ code: 0, stdout: expect.stringMatching(/^sesn_\w+\n$/) as string });
  const runs = await run("runs", "report");
  expect(runs.stdout).toContain(started.stdout.trim());
  expect(runs.stdout).toContain("on request");
  expect(JSON.parse((await run("runs", "--json")).stdout)).toMatchObject({ runs: [{ type: "deployment_run" }] });
  expect((await run("unpause", "report")).stdout).toContain("active");
  expect((await run("archive", "report")).stdout).toContain("archived");
  expect((await run("show", "report")).stderr).toContain("There is no deployment report");
  expect((await run("list", "--all", "--json")).stdout).toContain('"name": "report"');
});

test("without a server, a deployment can be created, and says what it needs", async () => {
  await using machine = await sessionMachine([]);
  await machine.run(["agents", "add", "--name", "greeter", "--model", "sonnet"]);
  const made = await machine.run([...CREATE, "--cron", "0 9 * * *"]);
  expect(made).toMatchObject({ code: 0 });
  expect(made.stdout).toContain("Schedules start sessions while `tandem up` runs.");
  const run = await machine.run(["deployments", "run", "report"]);
  expect(run.stderr).toContain("needs a running server");
  expect(run.code).not.toBe(0);
});
