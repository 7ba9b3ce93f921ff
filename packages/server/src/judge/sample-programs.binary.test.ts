import { BadRequestError, ConflictError, toFile } from "@anthropic-ai/sdk";
import type { BetaManagedAgentsStreamSessionEvents } from "@anthropic-ai/sdk/resources/beta/sessions/events";
import { reply, text, toolUse, when } from "@tandem/rehearsal";
import { afterAll, expect, test } from "vitest";
import { collectUntil, endsTurn, ofType } from "../testing/collect-stream.ts";
import { setJudgeStage } from "../testing/judge-stage.ts";

// Small programs in the style of the samples for the hosted service.
const stage = await setJudgeStage();
afterAll(() => stage[Symbol.asyncDispose]());

const beta = () => stage.client.beta;
const ALLOWED = [
  { type: "agent_toolset_20260401" as const, default_config: { permission_policy: { type: "always_allow" as const } } },
];
const custom = (name: string) => ({
  type: "custom" as const,
  name,
  description: name,
  input_schema: { type: "object" as const, properties: { id: { type: "string" } } },
});
const limit = (amount: string) => ({ type: "limit" as const, max_list_cost: { amount, currency: "USD" as const } });

async function run(session: string, words: string) {
  const stream = await beta().sessions.events.stream(session);
  await stage.say(session, words);
  return collectUntil(stream, endsTurn);
}
const said = (events: readonly BetaManagedAgentsStreamSessionEvents[]) =>
  ofType(events, "agent.message").flatMap(({ content }) => content.map((block) => "text" in block && block.text));

test("iterate until the tests are green: files at absolute paths", async () => {
  const upload = async (name: string, content: string) =>
    (await beta().files.upload({ file: await toFile(Buffer.from(content), name) })).id;
  const environment = await beta().environments.create({
    name: "iterate",
    config: { type: "cloud", networking: { type: "unrestricted" } },
  });
  const session = await beta().sessions.create({
    agent: await stage.agent({ tools: ALLOWED }),
    environment_id: environment.id,
    resources: [
      { type: "file", file_id: await upload("sum.sh", "echo $(($1 - $2))\n"), mount_path: "/workspace/src/sum.sh" },
      {
        type: "file",
        file_id: await upload("test.sh", '[ "$(sh sum.sh 1 2)" = 3 ] && echo passed\n'),
        mount_path: "/workspace/src/test.sh",
      },
    ],
  });
  const check = "cd src && sh test.sh";
  stage.rehearsal.use([
    toolUse("Bash", { command: check }),
    toolUse("Bash", { command: "sed -i.bak 's/ - / + /' src/sum.sh" }),
    toolUse("Bash", { command: check }),
    text("Green."),
  ]);
  const seen = await run(session.id, "Make the tests pass.");
  expect(ofType(seen, "agent.tool_result").map(({ is_error: failed }) => failed)).toEqual([true, false, false]);
  expect(said(seen)).toEqual(["Green."]);
});

test("gate with a human in the loop: every id of requires_action is answered as it comes", async () => {
  stage.rehearsal.use([
    reply([toolUse("mcp__tandem__decide", { id: "1" }), toolUse("mcp__tandem__escalate", { id: "2" })]),
    toolUse("Bash", { command: "echo paid" }),
    text("Done."),
  ]);
  const ask = {
    type: "agent_toolset_20260401" as const,
    default_config: { enabled: false },
    configs: [{ name: "bash" as const, enabled: true, permission_policy: { type: "always_ask" as const } }],
  };
  const session = await stage.session({}, { tools: [ask, custom("decide"), custom("escalate")] });
  const stream = await beta().sessions.events.stream(session);
  await stage.say(session, "Process the expenses.");
  const uses = new Map<string, BetaManagedAgentsStreamSessionEvents>();
  const answered: string[] = [];
  for await (const event of stream) {
    if ("id" in event) uses.set(event.id, event);
    if (event.type !== "session.status_idle") continue;
    if (event.stop_reason.type !== "requires_action") break;
    for (const id of event.stop_reason.event_ids) {
      const use = uses.get(id)!;
      if (answered.includes(id)) continue;
      answered.push(id);
      if (use.type !== "agent.custom_tool_use") {
        const confirmation = { type: "user.tool_confirmation" as const, tool_use_id: id, result: "allow" as const };
        await beta().sessions.events.send(session, { events: [confirmation] });
        continue;
      }
      const content = [{ type: "text" as const, text: `${use.name} recorded` }];
      const sent = await beta().sessions.events.send(session, {
        events: [{ type: "user.custom_tool_result", custom_tool_use_id: id, content }],
      });
      expect(sent.data).toMatchObject([{ processed_at: expect.any(String) }]);
    }
  }
  expect(answered.map((id) => uses.get(id))).toMatchObject([
    { name: "decide" },
    { name: "escalate" },
    { name: "Bash", evaluated_permission: "ask" },
  ]);
});

test("analyse data: a report at the service's path ends up in the session's files", async () => {
  const environment = await beta().environments.create({ name: "analyse" });
  const session = await stage.session({ environment_id: environment.id }, { tools: ALLOWED });
  const write = (folder: string) => toolUse("Write", { file_path: `${folder}/report.md`, content: "# Sales" });
  stage.rehearsal.use([
    write("/mnt/session/outputs"),
    // The path is another place on this machine; the system prompt names it.
    when(
      () => true,
      ({ toolResults }) => write(/ is at (\S+) on this machine/.exec(toolResults[0]?.text ?? "")?.[1] ?? "nowhere"),
    ),
    text("Done."),
  ]);
  const seen = await run(session, "Write the report to /mnt/session/outputs/report.md.");
  expect(ofType(seen, "agent.tool_result").map(({ is_error: failed }) => failed)).toEqual([true, false]);
  const { data } = await beta().files.list({ scope_id: session });
  expect(data).toMatchObject([{ filename: "report.md", downloadable: true }]);
  expect(await (await beta().files.download(data[0]!.id)).text()).toBe("# Sales");
});

test("version and roll back a prompt", async () => {
  const first = await beta().agents.create({ name: "triage", model: "sonnet", system: "Be brief." });
  const second = await beta().agents.update(first.id, { version: first.version, system: "Be thorough." });
  expect(second.version).toBe(2);
  await expect(beta().agents.update(first.id, { version: 1, system: "Be quick." })).rejects.toThrow(ConflictError);
  const pinned = await beta().sessions.create({
    agent: { type: "agent", id: first.id, version: 1 },
    environment_id: "env_local",
  });
  const latest = await beta().sessions.create({ agent: first.id, environment_id: "env_local" });
  expect([pinned.agent, latest.agent]).toMatchObject([
    { version: 1, system: "Be brief." },
    { version: 2, system: "Be thorough." },
  ]);
  const back = await beta().agents.update(first.id, { version: 2, system: first.system });
  expect(back).toMatchObject({ version: 3, system: "Be brief." });
});

test("cap a session's spending: refusals have the API's codes", async () => {
  const code = (name: string) => expect.objectContaining({ status: 400, errorCode: name });
  const unpriced = await stage.agent({ name: "unpriced", model: "claude-mythos-9" });
  const lead = { multiagent: { type: "coordinator" as const, agents: [unpriced] } };
  const budget = limit("500");
  await expect(stage.session({ agent: unpriced, budget })).rejects.toEqual(code("model_not_budgetable"));
  await expect(stage.session({ budget }, lead)).rejects.toEqual(code("model_not_budgetable"));
  const change = (session: string, amount: string) => beta().sessions.update(session, { budget: limit(amount) });
  await expect(change(await stage.session(), "500")).rejects.toEqual(code("budget_create_only"));
  const capped = await stage.session({ budget });
  await expect(change(capped, "0")).rejects.toEqual(code("budget_not_raised"));
  expect(await change(capped, "900")).toMatchObject({ budget: limit("900") });
});

test("coordinate a team: specialists are distinct and have no team of their own", async () => {
  const [writer, lead] = [await stage.agent({ name: "writer" }), await stage.agent({ name: "lead" })];
  const team = (...agents: string[]) => ({ multiagent: { type: "coordinator" as const, agents } });
  await beta().agents.update(lead, team(writer));
  await expect(stage.agent(team(lead))).rejects.toThrow(BadRequestError);
  await expect(stage.agent(team(writer, writer))).rejects.toThrow(BadRequestError);
});

test("reconnect: a new stream, then the history, without duplicates", async () => {
  stage.rehearsal.use([toolUse("mcp__tandem__decide", { id: "1" }), text("Decided.")]);
  const session = await stage.session({}, { tools: [custom("decide")] });
  const first = await beta().sessions.events.stream(session);
  await stage.say(session, "Decide.");
  const seen = new Map<string, BetaManagedAgentsStreamSessionEvents>();
  for await (const event of first) {
    if ("id" in event) seen.set(event.id, event);
    if (event.type === "agent.custom_tool_use") break;
  }
  const use = [...seen.values()].find(({ type }) => type === "agent.custom_tool_use");
  const second = await beta().sessions.events.stream(session);
  for await (const event of beta().sessions.events.list(session)) seen.set(event.id, event);
  await beta().sessions.events.send(session, {
    events: [{ type: "user.custom_tool_result", custom_tool_use_id: (use as { id: string }).id }],
  });
  for (const event of await collectUntil(second, endsTurn)) if ("id" in event) seen.set(event.id, event);
  const history = [];
  for await (const event of beta().sessions.events.list(session)) history.push(event.id);
  expect(history.filter((id) => !seen.has(id))).toEqual([]);
  expect(said([...seen.values()])).toEqual(["Decided."]);
  expect([...seen.values()].at(-1)?.type).toBe("session.status_idle");
});
