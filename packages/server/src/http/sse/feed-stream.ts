import type { FeedItem } from "@tandem/protocol";
import type { EventStream } from "./event-stream.ts";
import { commentFrame, namedFrame } from "./frame.ts";

const DRAIN_MS = 30_000;

/**
 * Writes a feed to a client. A slow client gets only the latest state of each session, so its backlog is bounded by the
 * number of sessions.
 */
export async function writeFeed(feed: AsyncIterable<FeedItem>, stream: EventStream): Promise<void> {
  const waiting = new Map<string, FeedItem>();
  let writing: Promise<void> | undefined;

  const drain = async (): Promise<void> => {
    while (waiting.size > 0) {
      const frames = [...waiting.values()].map((item) => namedFrame(item.type, item));
      waiting.clear();
      stream.write(frames.join(""));
      if (!(await stream.drained(DRAIN_MS))) return stream.destroy();
    }
    writing = undefined;
  };

  try {
    for await (const item of feed) {
      if (item.type === "snapshot") waiting.clear();
      const key = keyOf(item);
      // Delete first, so that the newest entry moves to the end.
      waiting.delete(key);
      waiting.set(key, item);
      writing ??= drain();
    }
    await writing;
  } finally {
    stream.end(commentFrame("the feed has ended"));
  }
}

function keyOf(item: FeedItem): string {
  switch (item.type) {
    case "snapshot":
      return "";
    case "changed":
      return item.session.id;
    case "removed":
      return item.id;
  }
}
