import type { FeedItem } from "@tandem/protocol";
import type { EventStream } from "./event-stream.ts";
import { commentFrame, namedFrame } from "./frame.ts";

const DRAIN_MS = 30_000;

/**
 * Writes a feed to a client. One that does not keep up gets, of each session, only how it is by then: what waits for it is
 * never more than one entry for each session.
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
      // The newest comes last, also where it takes the place of an older one.
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
