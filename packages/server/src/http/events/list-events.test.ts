import type { SessionEventBody } from "@tandem/protocol";
import { afterAll, expect, test } from "vitest";
import { MemoryEngine } from "../../testing/memory-engine.ts";
import { startTestServer } from "../../testing/start-test-server.ts";

const message = (text: string): SessionEventBody => ({ type: "agent.message", content: [{ type: "text", text }] });

const memory = new MemoryEngine();
const server = await startTestServer({ engine: memory.engine });
const session = memory.createSession();
for (let i = 1; i <= 25; i++) memory.append(session, i % 5 === 0 ? { type: "agent.thinking" } : message(`${i}`));
await memory.engine.sessions.send(session, [{ type: "user.message", content: [{ type: "text", text: "waits" }] }]);
afterAll(() => server[Symbol.asyncDispose]());

interface Page {
  data: { id: string; type: string; processed_at: string | null; content?: { text: string }[] }[];
  next_page: string | null;
}

const list = async (query: string, path = `/v1/sessions/${session}/events`): Promise<Page> => {
  const response = await server.request(`${path}?${query}`);
  expect(response.status).toBe(200);
  return (await response.json()) as Page;
};
const labels = ({ data }: Page): string[] => data.map(({ type, content }) => content?.[0]?.text ?? type);

async function all(query: string, path?: string): Promise<{ labels: string[]; pages: number }> {
  const found: string[] = [];
  for (let page: string | null = "", pages = 1; ; pages++) {
    const answer = await list(page ? `${query}&page=${page}` : query, path);
    found.push(...labels(answer));
    page = answer.next_page;
    if (page === null) return { labels: found, pages };
  }
}

const every = [...Array.from({ length: 25 }, (_, i) => ((i + 1) % 5 === 0 ? "agent.thinking" : `${i + 1}`)), "waits"];

test.each([1, 7, 25, 26, 1000])(
  "pages of %i add up to the whole list, oldest first, queued events last",
  async (limit) => {
    const { labels: found, pages } = await all(`limit=${limit}`);
    expect(found).toEqual(every);
    expect(pages).toBe(Math.ceil(25 / limit));
  },
);

test.each([1, 7, 100])("the same in descending order, in pages of %i", async (limit) => {
  expect((await all(`limit=${limit}&order=desc`)).labels).toEqual(every.toReversed());
});

test.each(["asc", "desc"])("a page that would be too large is cut short without losing events (%s)", async (order) => {
  const heavy = memory.createSession();
  const body = message("x".repeat(500_000));
  for (let i = 1; i <= 60; i++) memory.append(heavy, body);
  const path = `/v1/sessions/${heavy}/events`;
  const first = await list(`limit=1000&order=${order}`, path);
  expect(first.data.length).toBeLessThan(40);
  const second = await list(`limit=1000&order=${order}&page=${first.next_page}`, path);
  expect(second.next_page).toBeNull();
  const { events } = await memory.engine.sessions.events(heavy, { limit: 100 });
  const ids = [...first.data, ...second.data].map(({ id }) => id);
  expect(order === "asc" ? ids : ids.toReversed()).toEqual(events.map(({ event }) => event.id));
});

test("types filter", async () => {
  expect((await all("limit=2&types[]=agent.thinking")).labels).toEqual(
    Array.from({ length: 5 }, () => "agent.thinking"),
  );
  expect((await all("types[]=user.message&types[]=agent.thinking")).labels).toHaveLength(6);
});

test("a cursor of another list is refused with a fix", async () => {
  const { next_page: cursor } = await list("limit=3");
  const other = memory.createSession();
  const thread = memory.createThread(session);
  for (const path of [
    `/v1/sessions/${session}/events?order=desc&page=${cursor}`,
    `/v1/sessions/${other}/events?page=${cursor}`,
    `/v1/sessions/${session}/threads/${thread}/events?page=${cursor}`,
    `/v1/sessions/${session}/events?page=nonsense`,
    `/v1/sessions/${session}/events?page=12`,
  ]) {
    const response = await server.request(path);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("begin again without `page`");
  }
});

test.each([1, 2, 3, 100])("a thread lists the same events as its stream, in pages of %i", async (limit) => {
  const [thread, other] = [memory.createThread(session), memory.createThread(session)];
  const about = (id: typeof thread) => ({ session_thread_id: id, agent_name: "scout" });
  for (const each of [other, thread, other]) {
    memory.append(session, { type: "session.thread_created", ...about(each), workflow_run_id: null });
    memory.append(session, { type: "session.thread_status_running", ...about(each) });
  }
  memory.append(session, message("below"), { thread });
  memory.append(session, message("beside"), { thread: other });
  memory.append(session, message("above"));
  memory.append(session, message("below again"), { thread });
  memory.append(session, { type: "session.thread_status_terminated", ...about(other) });
  memory.append(session, { type: "session.thread_status_terminated", ...about(thread) });
  expect((await all(`limit=${limit}`, `/v1/sessions/${session}/threads/${thread}/events`)).labels).toEqual([
    "session.thread_created",
    "session.thread_status_running",
    "below",
    "below again",
    "session.thread_status_terminated",
  ]);
});
