import type { FeedItem, FeedSession } from "@tandem/protocol";
import { expect, test } from "vitest";
import { MemoryEngine } from "../../testing/memory-engine.ts";
import { StreamReader } from "../../testing/read-stream.ts";
import { startTestServer } from "../../testing/start-test-server.ts";
import type { EventStream } from "./event-stream.ts";
import { writeFeed } from "./feed-stream.ts";

const changed = (id: string, title: string): FeedItem => ({ type: "changed", session: { id, title } as FeedSession });

test("a feed starts with a snapshot and continues with changes", async () => {
  const memory = new MemoryEngine();
  await using server = await startTestServer({ engine: memory.engine });
  await using feed = await StreamReader.open(server, "/v1/feed");
  expect(await feed.untilType("snapshot")).toEqual({ event: "snapshot", data: { type: "snapshot", sessions: [] } });
  memory.tellFeeds(changed("sesn_1", "One"));
  memory.tellFeeds({ type: "removed", id: "sesn_2" });
  await feed.untilType("removed");
  expect(feed.types).toEqual(["snapshot", "changed", "removed"]);
});

test("a slow client gets the latest state of each session, not every change", async () => {
  const written: string[] = [];
  const gate = Promise.withResolvers<boolean>();
  const slow = {
    write: (frames: string) => void written.push(frames),
    drained: () => (written.length === 1 ? gate.promise : Promise.resolve(true)),
    end: () => true,
    destroy: () => undefined,
  } as unknown as EventStream;
  async function* items(): AsyncGenerator<FeedItem> {
    yield { type: "snapshot", sessions: [] };
    for (let i = 0; i < 1_000; i++) yield changed(`sesn_${i % 3}`, `${i}`);
    yield { type: "removed", id: "sesn_0" };
    gate.resolve(true);
  }
  await writeFeed(items(), slow);
  expect(written).toHaveLength(2);
  const titles = [...written[1]!.matchAll(/"title":"(\d+)"/g)].map(([, title]) => title);
  expect(titles).toEqual(["997", "998"]);
  expect(written[1]).toContain('{"type":"removed","id":"sesn_0"}');
});
