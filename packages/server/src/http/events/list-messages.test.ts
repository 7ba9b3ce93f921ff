import type { SessionEventBody } from "@tandem/protocol";
import { expect, test } from "vitest";
import { MemoryEngine } from "../../testing/memory-engine.ts";
import { startTestServer } from "../../testing/start-test-server.ts";

const text = (words: string) => [{ type: "text" as const, text: words }];
const usage = { input_tokens: 0, output_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };

interface Answer {
  data: { id: string; role: string; seq: number | null; parts: { type: string; text?: string; state?: unknown }[] }[];
  before: number | null;
}

test("messages are paged from the end, and equal those of the full list", async () => {
  const memory = new MemoryEngine();
  const session = memory.createSession();
  const append = (body: SessionEventBody) => memory.append(session, body).event.id;
  for (let turn = 1; turn <= 400; turn++) {
    append({ type: "user.message", content: text(`question ${turn}`) });
    append({ type: "session.status_running" });
    const start = append({ type: "span.model_request_start" });
    const use = append({ type: "agent.tool_use", name: "Bash", input: {}, tandem: { tool_use_id: `toolu_${turn}` } });
    append({
      type: "span.model_request_end",
      model_request_start_id: start,
      is_error: false,
      model_usage: usage,
      tandem: {},
    });
    append({ type: "agent.tool_result", tool_use_id: use, content: text("done") });
    append({ type: "agent.message", content: text(`answer ${turn}`) });
    append({ type: "session.status_idle", stop_reason: { type: "end_turn" }, stop_details: null });
  }
  await memory.engine.sessions.send(session, [{ type: "user.message", content: text("not yet") }]);
  await using server = await startTestServer({ engine: memory.engine });

  const list = async (query: string): Promise<Answer> => {
    const response = await server.request(`/v1/sessions/${session}/messages?${query}`);
    expect(response.status).toBe(200);
    return (await response.json()) as Answer;
  };
  const pages: Answer[] = [await list("limit=37")];
  while (pages[0]!.before !== null) pages.unshift(await list(`limit=37&before=${pages[0]!.before}`));
  const whole = pages.flatMap(({ data }) => data);
  expect(whole.at(-1)).toMatchObject({ role: "user", seq: null, parts: [{ text: "not yet" }] });
  const messages = whole.slice(0, -1);
  expect(messages.map(({ role }) => role)).toEqual(
    Array.from({ length: 800 }, (_, i) => (i % 2 === 0 ? "user" : "agent")),
  );
  expect(new Set(messages.map(({ id }) => id)).size).toBe(800);
  for (const [index, { parts }] of messages.entries()) {
    if (index % 2 === 0) expect(parts).toMatchObject([{ text: `question ${index / 2 + 1}` }]);
    else {
      const tool = parts.find(({ type }) => type === "tool");
      expect(tool?.state).toMatchObject({ type: "completed" });
      expect(parts.at(-1)).toMatchObject({ text: `answer ${(index + 1) / 2}` });
    }
  }
});

test("a result that arrives after another message is attached to its call", async () => {
  const memory = new MemoryEngine();
  const session = memory.createSession();
  memory.append(session, { type: "span.model_request_start" });
  const use = memory.append(session, {
    type: "agent.tool_use",
    name: "Bash",
    input: {},
    tandem: { tool_use_id: "toolu_1" },
  });
  const steer = memory.append(session, { type: "user.message", content: text("and quickly") });
  memory.append(session, { type: "agent.tool_result", tool_use_id: use.event.id, content: text("done") });
  await using server = await startTestServer({ engine: memory.engine });
  const response = await server.request(`/v1/sessions/${session}/messages?before=${steer.seq}`);
  const { data, before } = (await response.json()) as Answer;
  expect(before).toBeNull();
  expect(data).toHaveLength(1);
  expect(data[0]!.parts.find(({ type }) => type === "tool")?.state).toMatchObject({ type: "completed" });
});

test("an unknown thread is not found", async () => {
  const memory = new MemoryEngine();
  const session = memory.createSession();
  await using server = await startTestServer({ engine: memory.engine });
  expect((await server.request(`/v1/sessions/${session}/messages?thread=sthr_x`)).status).toBe(404);
});
