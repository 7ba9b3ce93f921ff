import type { JobId } from "@tandem/protocol";
import type { ServerInfo } from "@tandem/tandem/server";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { testFolder } from "../testing/test-folder.ts";
import { ServerJobs } from "./job-log.ts";

const JOB = "job_1" as JobId;
const STREAM = `/v1/jobs/${JOB}/events/stream`;

/** A server of the API with one job. `stream` answers each connection to its log; `endedAt` is read for each request. */
async function startServer(
  tokenFile: string,
  pid: number,
  stream: (response: ServerResponse, request: IncomingMessage) => void,
  job: () => { ended_at: string | null } | undefined,
) {
  const server = createServer((request, response) => {
    if (request.url === STREAM) {
      response.writeHead(200, { "content-type": "text/event-stream" });
      stream(response, request);
      return;
    }
    const found = job();
    const body = found ?? { type: "error", error: { type: "not_found_error", message: "There is no job." } };
    response.writeHead(found ? 200 : 404, { "content-type": "application/json" }).end(JSON.stringify(body));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const info = { url, pid, process_start: String(pid), token_file: tokenFile } as ServerInfo;
  return {
    info,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const frame = (seq: number, type: string): string =>
  `event: message\nid: ${seq}\ndata: ${JSON.stringify({ seq, at: "", event: { type } })}\n\n`;

async function tokenIn(folder: Awaited<ReturnType<typeof testFolder>>): Promise<string> {
  const file = folder.join("token");
  await writeFile(file, "made-up\n");
  return file;
}

test("a follower of a job moves to the server that replaces its own, without gap or repeat", async () => {
  await using folder = await testFolder();
  const token = await tokenIn(folder);
  const cursors: unknown[] = [];
  const running = () => ({ ended_at: null });
  await using first = await startServer(
    token,
    1,
    (response) => response.write(frame(1, "started"), () => response.destroy()),
    running,
  );
  await using second = await startServer(
    token,
    2,
    (response, { headers }) => {
      cursors.push(headers["last-event-id"]);
      response.end(frame(2, "ended"));
    },
    () => ({ ended_at: "2026-01-01T00:00:00Z" }),
  );
  using jobs = await ServerJobs.open(first.info, async () => second.info);
  const seen: number[] = [];
  await jobs.follow(JOB, 0, new AbortController().signal, ({ seq }) => seen.push(seq));
  expect({ seen, cursors }).toEqual({ seen: [1, 2], cursors: ["1"] });
});

test("a connection that breaks at the end of a job is opened again for its last events", async () => {
  await using folder = await testFolder();
  let opened = 0;
  await using server = await startServer(
    await tokenIn(folder),
    1,
    (response) => {
      opened += 1;
      if (opened === 1) response.write(frame(1, "spent"), () => response.destroy());
      else response.end(frame(2, "ended"));
    },
    () => ({ ended_at: "2026-01-01T00:00:00Z" }),
  );
  using jobs = await ServerJobs.open(server.info, async () => server.info);
  const seen: number[] = [];
  await jobs.follow(JOB, 0, new AbortController().signal, ({ seq }) => seen.push(seq));
  expect(seen).toEqual([1, 2]);
});

test("following ends when the signal aborts, and when the job was deleted", async () => {
  await using folder = await testFolder();
  const stop = new AbortController();
  let isDeleted = false;
  await using server = await startServer(
    await tokenIn(folder),
    1,
    (response) => void (isDeleted ? response.end() : response.write(frame(1, "started"))),
    () => (isDeleted ? undefined : { ended_at: null }),
  );
  using jobs = await ServerJobs.open(server.info, async () => server.info);
  await jobs.follow(JOB, 0, stop.signal, () => stop.abort());
  isDeleted = true;
  await jobs.follow(JOB, 1, new AbortController().signal, () => {});
  expect(await jobs.get(JOB)).toBeUndefined();
});
