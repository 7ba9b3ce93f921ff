import { always, text } from "@tandem/rehearsal";
import { readdir, stat } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { must, tenantStage } from "../../tenants/testing/tenant-stage.ts";
import { sessionMachine } from "../../testing/session-machine.ts";

const DAY_MS = 86_400_000;

test("tandem sessions prune exports and deletes old idle sessions and keeps the others", async () => {
  await using machine = await sessionMachine([always(text("Hello."))]);
  const { session_id: old } = JSON.parse((await machine.run(["run", "Say hello", "--json"])).stdout) as {
    session_id: string;
  };
  const exported = (await machine.run(["sessions", "export", old])).stdout;
  const copy = async (): Promise<string> => {
    const { stdout } = await machine.run(["sessions", "import", "--as-new", "--json"], { stdin: exported });
    return (JSON.parse(stdout) as { session: string }).session;
  };
  const [asked, changed] = [await copy(), await copy()];
  {
    using database = new DatabaseSync(machine.folder.join("home", ".tandem", "tandem.db"), { timeout: 5_000 });
    const before = Date.now() - 100 * DAY_MS;
    database.exec(`update session set created_at = ${before}`);
    database.exec(`update session set updated_at = ${before} where id <> '${changed}'`);
    const waits = '"waitingFor":[{"event_id":"sevt_1","type":"tool_confirmation","name":"Bash"}]';
    database.exec(`update session set state = replace(state, '"waitingFor":[]', '${waits}') where id = '${asked}'`);
  }
  expect(await machine.run(["sessions", "prune"])).toMatchObject({ code: 2, stderr: expect.stringContaining("--yes") });
  const counted = await machine.run(["sessions", "prune", "--dry-run"]);
  expect(counted.stdout).toBe("1 session has not changed for 90 days.\n");
  const pruned = await machine.run(["sessions", "prune", "--export", "old", "--yes"]);
  const folder = machine.folder.join("project", "old");
  expect(pruned).toMatchObject({ code: 0, stdout: `Deleted 1 of 1. They are in ${folder}.\n` });
  const { stdout: left } = await machine.run(["sessions", "list", "--all", "--json"]);
  const ids = (JSON.parse(left) as { sessions: { id: string }[] }).sessions.map(({ id }) => id);
  expect(ids.toSorted()).toEqual([asked, changed].toSorted());
  expect(await readdir(folder)).toEqual([`${old}.jsonl`]);
  expect((await stat(`${folder}/${old}.jsonl`)).mode & 0o777).toBe(0o600);
  // The export can be imported again.
  expect(await machine.run(["sessions", "import", `old/${old}.jsonl`])).toMatchObject({ code: 0 });
});

test("the operator prunes a tenant: the operator's sessions stay, and the tenant's audit does not name them", async () => {
  await using stage = await tenantStage([always(text("Hello."))]);
  const { machine, up } = stage;
  const acme = await stage.tenant("acme");
  const begin = async (token: string): Promise<string> => {
    const agent = await must(stage.call(token, "POST", "/v1/agents", { name: "worker", model: "sonnet" }));
    const params = { agent: agent.body.id, environment_id: "env_local" };
    return (await must(stage.call(token, "POST", "/v1/sessions", params))).body.id;
  };
  const [own, theirs] = [await begin(up.token), await begin(acme)];
  for (const file of ["tandem.db", "tandem.tenants/acme.db"]) {
    using database = new DatabaseSync(`${machine.variables.TANDEM_HOME}/${file}`, { timeout: 5_000 });
    const before = Date.now() - 100 * DAY_MS;
    database.exec(`update session set created_at = ${before}, updated_at = ${before}`);
  }
  expect(await machine.run(["sessions", "prune", "--tenant", "acm", "--yes"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("Did you mean acme?"),
  });
  const counted = await machine.run(["sessions", "prune", "--tenant", "acme", "--dry-run"]);
  expect(counted.stdout).toBe("1 session of acme has not changed for 90 days.\n");
  const pruned = await machine.run(["sessions", "prune", "--tenant", "acme", "--export", "old", "--yes"]);
  const folder = machine.folder.join("project", "old");
  expect(pruned).toMatchObject({ code: 0, stdout: `Deleted 1 of 1. They are in ${folder}.\n` });
  expect(await readdir(folder)).toEqual([`${theirs}.jsonl`]);
  expect((await stage.call(acme, "GET", `/v1/sessions/${theirs}`)).status).toBe(404);
  expect((await stage.call(up.token, "GET", `/v1/sessions/${own}`)).status).toBe(200);
  const audit = await must(stage.call(acme, "GET", "/v1/audit"));
  expect(audit.body.data).toContainEqual(
    expect.objectContaining({ kind: "session.deleted", actor: "the operator", session: theirs }),
  );
});
