import { existsSync } from "node:fs";
import type { BudgetGauge } from "@tandem/protocol";
import { always, text, toolUse } from "@tandem/rehearsal";
import { expect, test } from "vitest";
import { sessionMachine } from "../../testing/session-machine.ts";

const answer = [always(text("Hello.", { usage: { input_tokens: 10_000, output_tokens: 100 } }))];

test.each(["without a server", "with a server"])("tandem budgets shows and limits what is spent, %s", async (place) => {
  await using machine = await sessionMachine(answer);
  await using _ = place === "with a server" ? await machine.up() : undefined;
  expect((await machine.run(["budgets"])).stdout).toContain("No spending today");
  const set = await machine.run(["budgets", "set", "day", "--usd", "1"]);
  expect(set.stdout).toMatch(/^day \d{4}-\d\d-\d\d\n {2}money {2}░{20} {2}\$0\.00 of \$1\.00\n/);
  expect((await machine.run(["run", "Hello"])).code).toBe(0);
  const { budgets } = JSON.parse((await machine.run(["budgets", "--json"])).stdout) as { budgets: BudgetGauge[] };
  const money = budgets.filter(({ unit }) => unit === "usd");
  expect(money.map(({ scope, spent, limit }) => [scope, spent, limit])).toEqual([
    ["day", 0.021, 1],
    ["project", 0.021, null],
    ["agent", 0.021, null],
  ]);
  expect(money[0]!.payer).toBe("the Anthropic API key");

  // The limit is too low for an answer: no request is sent and the message stays queued.
  const asked = machine.rehearsal.modelRequests.length;
  const refused = await machine.run(["run", "--max-budget-usd", "0.001", "Hello"]);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("The session used $0.00 of $0.0010") });
  expect(machine.rehearsal.modelRequests).toHaveLength(asked);
  const raised = await machine.run(["budgets", "raise", "last", "--usd", "2"]);
  expect(raised.stdout).toMatch(/money +[▒░]+ +\$0\.00 of \$2\.00/);
  expect(await machine.run(["budgets", "set", "day"])).toMatchObject({ code: 2 });
  expect(await machine.run(["run", "--max-budget-usd", "much", "Hello"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--max-budget-usd"),
  });
});

test("tandem stop --all ends every turn of the server, and tandem stop --undo ends that", async () => {
  await using machine = await sessionMachine([toolUse("Bash", { command: "touch begun; tail -F /dev/null" })]);
  await using _ = await machine.up();
  const running = machine.run(["run", "--allow", "bash", "Wait"]);
  await expect.poll(() => existsSync(machine.folder.join("project", "begun"))).toBe(true);
  const stopped = await machine.run(["stop", "--all", "--reason", "A test"]);
  expect(stopped.stdout).toBe("Everything is stopped. 1 turn was interrupted.\nUndo: tandem stop --undo\n");
  expect((await running).stderr).toContain(": A test.");
  expect((await machine.run(["budgets"])).stdout).toContain("Everything was stopped by");
  expect(await machine.run(["run", "Hello"])).toMatchObject({ stderr: expect.stringContaining("A test") });
  expect(await machine.run(["resume"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("tandem stop --undo"),
  });
  expect((await machine.run(["stop", "--undo"])).stdout).toBe("Sessions can run again.\n");
  machine.rehearsal.use(answer);
  expect((await machine.run(["run", "Hello"])).stdout).toBe("Hello.\n");
  // Without an id, both take the last session of this folder and name it.
  const resumed = await machine.run(["resume", "Hello"]);
  expect(resumed.stdout).toBe("Hello.\n");
  const [, id] = /Session (sesn_\w+): Hello/.exec(resumed.stderr) ?? [];
  expect((await machine.run(["stop"])).stdout).toBe(`Interrupted ${id}.\n`);
  expect(await machine.run(["stop", "last", "--all"])).toMatchObject({ code: 2 });
});
