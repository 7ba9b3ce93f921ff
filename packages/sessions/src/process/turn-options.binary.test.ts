import { SESSION_METADATA, type Session } from "@tandem/protocol";
import { always, text } from "@tandem/rehearsal";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { isIdle, setEngineStage, the, typesOf } from "../testing/engine-stage.ts";

const MODELS = [
  { id: "claude-sonnet-5-5", name: "Sonnet", aliases: ["sonnet"], efforts: ["low", "medium", "high"] },
  { id: "claude-haiku-5-5", name: "Haiku", aliases: ["haiku"], efforts: [] },
];

const stage = await setEngineStage();
let running = await stage.open({ models: async () => MODELS });
afterAll(() => stage[Symbol.asyncDispose]());
beforeEach(() => stage.rehearsal.use([always(text("fine"))]));

/** Model and settings of each request since the last call. */
const ranOn = () =>
  stage.rehearsal.requests
    .filter(({ path }) => path.startsWith("/v1/messages"))
    .map(({ body }) => body as { model: string; output_config?: { effort?: string } })
    .map(({ model, output_config }) => [model, output_config?.effort]);

async function turn(session: Session, tandem: { model?: string; effort?: "low" | "high" } = {}) {
  stage.rehearsal.use([always(text("fine"))]);
  const head = await running.engine.sessions.head(session.id);
  await running.engine.sessions.send(session.id, [
    { type: "user.message", content: [{ type: "text", text: "Go." }], tandem },
  ]);
  return running.until(session, isIdle, head);
}

describe("model and effort", () => {
  test("of one turn apply to that turn only", async () => {
    const session = await running.reuse();
    const [pid] = await (async () => {
      await turn(session);
      return stage.processes();
    })();
    const events = await turn(session, { model: "haiku", effort: "high" });
    expect(ranOn(), "no other request was made").toEqual([["claude-haiku-5-5", "high"]]);
    expect(the(events, "tandem.model")).toMatchObject({
      model: "claude-haiku-5-5",
      effort: "high",
      ignored: [expect.stringContaining("effort")],
    });
    expect(typesOf(events)).not.toContain("tandem.unknown");
    const back = await turn(session);
    expect(ranOn().map(([model]) => model)).toEqual(["claude-sonnet-5-5"]);
    expect(the(back, "tandem.model")).toMatchObject({ model: "claude-sonnet-5-5", ignored: [] });
    expect(await stage.processes(), "it is the same process").toEqual([pid]);
  });

  test("of a session apply from the next turn, also after a restart", async () => {
    const session = await running.reuse();
    await turn(session);
    const metadata = { [SESSION_METADATA.model]: "haiku", [SESSION_METADATA.effort]: "low" };
    const updated = await running.engine.sessions.update(session.id, { metadata });
    expect(updated.metadata[SESSION_METADATA.model], "kept by its id").toBe("claude-haiku-5-5");
    await turn(session);
    expect(ranOn()).toEqual([["claude-haiku-5-5", "low"]]);
    await running.stop();
    running = await stage.open({ models: async () => MODELS });
    await turn(session);
    expect(ranOn()).toEqual([["claude-haiku-5-5", "low"]]);
  });

  test("that do not exist are rejected when they are requested", async () => {
    const session = await running.session();
    await expect(turn(session, { model: "haikoo" })).rejects.toMatchObject({
      code: "invalid_request",
      fix: expect.stringContaining("haiku"),
    });
    const unknown: Record<string, string>[] = [
      { [SESSION_METADATA.model]: "gpt" },
      { [SESSION_METADATA.effort]: "huge" },
    ];
    for (const metadata of unknown) {
      await expect(running.session({ metadata })).rejects.toMatchObject({ code: "invalid_request" });
      await expect(running.engine.sessions.update(session.id, { metadata })).rejects.toMatchObject({
        code: "invalid_request",
      });
    }
  });
});

describe("a mode", () => {
  const mode = (value: string) => ({ metadata: { [SESSION_METADATA.permissionMode]: value } });

  test.skipIf(process.getuid?.() !== 0)(
    "bypassPermissions is refused for root, at the beginning and later",
    async () => {
      const refused = { code: "forbidden", message: expect.stringContaining("root"), fix: expect.any(String) };
      await expect(running.session(mode("bypassPermissions"))).rejects.toMatchObject(refused);
      const session = await running.session();
      await expect(running.engine.sessions.update(session.id, mode("bypassPermissions"))).rejects.toMatchObject(
        refused,
      );
    },
  );

  test("change is logged with the person who made it", async () => {
    const session = await running.session();
    await running.engine.sessions.update(session.id, mode("acceptEdits"), "ada");
    const { events } = await running.engine.sessions.events(session.id, { limit: 10 });
    expect(the(events, "tandem.mode")).toMatchObject({ mode: "acceptEdits", by: "ada" });
  });

  test("and session grants end when the agent changes", async () => {
    const session = await running.session(mode("acceptEdits"));
    const { rules, sessions } = running.engine;
    const place = { scope: "session" as const, of: session.id };
    await rules.add({ tool: "Bash", action: "allow" }, { ...place, by: "ada" });
    const updated = await sessions.update(
      session.id,
      { agent: { tools: [{ type: "agent_toolset_20260401" }] } },
      "bob",
    );
    expect(updated.metadata).not.toHaveProperty(SESSION_METADATA.permissionMode);
    expect(await rules.list(place)).toEqual([]);
    const { events } = await sessions.events(session.id, { limit: 10 });
    expect(the(events, "tandem.mode")).toMatchObject({ mode: "default", by: "bob" });
  });

  test("plan: Claude Code plans, in the running process and in a new one", async () => {
    const session = await running.reuse();
    await turn(session);
    expect(JSON.stringify(stage.rehearsal.modelRequests)).not.toContain("Plan mode is active");
    await running.engine.sessions.update(session.id, mode("plan"));
    await turn(session);
    expect(JSON.stringify(stage.rehearsal.modelRequests)).toContain("Plan mode is active");
    const planned = await running.session(mode("plan"));
    await turn(planned);
    expect(JSON.stringify(stage.rehearsal.modelRequests)).toContain("Plan mode is active");
  });
});
