// A helper: all subscribers of a fan-out, on bare sockets, so that what they cost is little beside the server.
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { subscribersTask } from "./fanout-task.ts";
import { helperTask, say, told } from "./helper.ts";
import { Lags } from "./lags.ts";
import { nowUs, StampFinder } from "./stamp.ts";

/** Fewer than a server's queue of connections. */
const AT_ONCE = 50;
/** Wait for outstanding events; each arrival starts the time again. */
const SILENCE_MS = 1_500;
const MAX_MS = 15_000;

const task = helperTask(subscribersTask);
const lags = new Lags();
let received = 0;
let countFrom = 0;
let misplaced = 0;
const buffer = Buffer.alloc(64 * 1_024);

for (let connected = 0; connected < task.subscribers; connected += AT_ONCE) {
  const wave = Math.min(AT_ONCE, task.subscribers - connected);
  await Promise.all(Array.from({ length: wave }, subscribe));
}
say({ ready: true });

await told("finish");
const deadline = Date.now() + MAX_MS;
for (let before = -1; before !== received && Date.now() < deadline;) {
  before = received;
  await sleep(SILENCE_MS);
}
say({ received, misplaced, p50: lags.quantile(0.5), p99: lags.quantile(0.99), max: lags.quantile(1) });

/** Resolves when the server has answered. */
function subscribe(): Promise<void> {
  return new Promise((resolve, reject) => {
    let next = 0;
    let isAnswered = false;
    const finder = new StampFinder((number, timeUs) => {
      if (number !== next) misplaced += 1;
      next = number + 1;
      const now = nowUs();
      if (received === 0) countFrom = now + task.warmUpSeconds * 1_000_000;
      received += 1;
      if (now >= countFrom) lags.add(now - timeUs);
    });
    const callback = (length: number): boolean => {
      const bytes = buffer.subarray(0, length);
      if (!isAnswered) {
        isAnswered = true;
        const status = bytes.toString("latin1", 0, 15);
        if (status.startsWith("HTTP/1.1 200")) resolve();
        else reject(new Error(`The server said: ${status}`));
      }
      finder.feed(bytes);
      return true;
    };
    // One buffer for all: each read is looked through before the next one begins.
    const socket = connect({ port: task.port, host: "127.0.0.1", onread: { buffer, callback } });
    socket.on("error", reject);
    socket.write(
      `GET ${task.path} HTTP/1.1\r\nhost: 127.0.0.1:${task.port}\r\nauthorization: Bearer ${task.token}\r\n\r\n`,
    );
  });
}
