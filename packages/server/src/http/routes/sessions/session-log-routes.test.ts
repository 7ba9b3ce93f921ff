import { expect, test } from "vitest";
import { MemoryEngine } from "../../../testing/memory-engine.ts";
import { startTestServer } from "../../../testing/start-test-server.ts";

test("a page around an event has its neighbours on both sides; its start and its end are those of the log", async () => {
  const memory = new MemoryEngine();
  const session = memory.createSession();
  const ids = Array.from({ length: 20 }, (_, number) => {
    const content = [{ type: "text" as const, text: `message ${number}` }];
    return memory.append(session, { type: "user.message", content }).event.id;
  });
  await using server = await startTestServer({ engine: memory.engine });
  const read = async (query: string): Promise<{ places: number[]; before: number | null; head: number }> => {
    const response = await server.request(`/v1/sessions/${session}/log?${query}`);
    expect(response.status).toBe(200);
    const { data, before, head } = (await response.json()) as {
      data: { seq: number }[];
      before: number | null;
      head: number;
    };
    return { places: data.map(({ seq }) => seq), before, head };
  };

  expect(await read(`around=${ids[9]}&limit=5`)).toEqual({ places: [8, 9, 10, 11, 12], before: 8, head: 20 });
  expect(await read(`around=${ids[9]}&limit=1`)).toEqual({ places: [10], before: 10, head: 20 });
  expect(await read(`around=${ids[0]}&limit=5`)).toEqual({ places: [1, 2, 3, 4, 5], before: null, head: 20 });
  expect(await read(`around=${ids[19]}&limit=5`)).toEqual({ places: [18, 19, 20], before: 18, head: 20 });
  const missing = await server.request(`/v1/sessions/${session}/log?around=sevt_none`);
  expect(missing.status).toBe(404);
});
