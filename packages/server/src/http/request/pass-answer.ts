import type { ServerResponse } from "node:http";
import type { MessagesReply } from "@tandem/sessions";

/** Writes an answer as it arrives, no faster than the client reads. */
export function passAnswer(outgoing: ServerResponse): MessagesReply {
  return {
    head: (status, headers) => {
      outgoing.writeHead(status, { ...headers });
      outgoing.flushHeaders();
    },
    write: async (chunk) => {
      if (outgoing.destroyed || outgoing.write(chunk)) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      outgoing.once("drain", resolve).once("close", resolve);
      await promise;
      outgoing.off("drain", resolve).off("close", resolve);
    },
  };
}
