import { createEmbeddedQueue } from "../embedded/create-embedded-queue.ts";
import { queueContract } from "./queue.contract.ts";

queueContract("embedded", async () => ({
  open: async (options) => createEmbeddedQueue(options),
  aWhileMs: 50,
  pauseSeconds: 0.1,
  [Symbol.asyncDispose]: async () => {},
}));
