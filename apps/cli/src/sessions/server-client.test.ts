import { once } from "node:events";
import { mkdtempDisposable, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { createServerClient } from "./server-client.ts";
import { ServerConnection } from "./server-connection.ts";
import type { LiveItem } from "./sessions-client.ts";

/** A client of a server that answers as the test says. `stop` ends the server alone. */
async function connect(listener: RequestListener) {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(await mkdtempDisposable(join(tmpdir(), "tandem-client-")));
  const server = createServer(listener).listen(0, "127.0.0.1");
  const stop = (): void => {
    server.close();
    server.closeAllConnections();
  };
  parts.defer(stop);
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const file = join(folder.path, "token");
  await writeFile(file, "tnd_own\n");
  const client = parts.use(createServerClient(await ServerConnection.open({ url, token_file: file })));
  const owned = parts.move();
  return { url, client, stop, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

const refuse =
  (status: number, message?: string): RequestListener =>
  (_, response) => {
    const error = { type: "error", error: { type: "api_error", message } };
    response.writeHead(status).end(message === undefined ? "<h1>No</h1>" : JSON.stringify(error));
  };

describe("an error of the server is the command's own", () => {
  test.each([
    [400, "invalid_request"],
    [403, "forbidden"],
    [404, "not_found"],
    [409, "conflict"],
    [413, "too_large"],
    [501, "not_supported"],
    [503, "unavailable"],
  ])("%i is a RequestError %s with the server's sentence", async (status, code) => {
    await using server = await connect(refuse(status, "There is no session sesn_1."));
    await expect(server.client.sessions.get("sesn_1")).rejects.toMatchObject({
      name: "RequestError",
      code,
      message: "There is no session sesn_1.",
    });
  });

  test("401 says what to do about the token", async () => {
    await using server = await connect(refuse(401, "No."));
    await expect(server.client.worktrees.list()).rejects.toMatchObject({
      code: "token_rejected",
      message: `The server at ${server.url} rejects its own token.`,
    });
  });

  test("any other status points to the log, also if the answer is no JSON", async () => {
    await using server = await connect(refuse(500));
    await expect(server.client.worktrees.patch("sesn_1")).rejects.toMatchObject({
      code: "server_failed",
      message: `The server at ${server.url} answered with 500.`,
      fix: "See `tandem logs --level error`.",
    });
  });

  test("a server that is gone cannot be reached", async () => {
    await using server = await connect(refuse(500));
    server.stop();
    await expect(server.client.budgets.list()).rejects.toMatchObject({
      code: "network",
      message: `The server at ${server.url} cannot be reached.`,
    });
  });
});

test("a request has the token, the query and the body that the API declares", async () => {
  const requests: unknown[] = [];
  await using server = await connect((request, response) => {
    const { method, url, headers } = request;
    const answer = (body: string): void => {
      requests.push([method, decodeURIComponent(url!), headers.authorization, headers["content-type"], body]);
      response.end(JSON.stringify({ data: [], next_page: null, prev_page: "earlier" }));
    };
    void text(request).then(answer);
  });
  const { sessions, rules } = server.client;
  const page = await sessions.list({ limit: 2, order: "desc", includeArchived: true, statuses: ["idle", "running"] });
  expect(page).toEqual({ data: [], next: null, previous: "earlier" });
  await rules.add({ tool: "Bash", action: "ask" }, { scope: "user", of: null, by: "local:ana" });
  expect(requests).toEqual([
    [
      "GET",
      "/v1/sessions?limit=2&include_archived=true&order=desc&statuses[]=idle&statuses[]=running",
      "Bearer tnd_own",
      undefined,
      "",
    ],
    ["POST", "/v1/rules", "Bearer tnd_own", "application/json", '{"tool":"Bash","action":"ask","scope":"user"}'],
  ]);
});

describe("following a session", () => {
  test("fails at once if the server refuses", async () => {
    await using server = await connect(refuse(404, "There is no session sesn_1."));
    const following = server.client.follow("sesn_1", new AbortController().signal);
    await expect(following).rejects.toMatchObject({ code: "not_found" });
  });

  test("tells events from previews, and resumes after the last event when the connection breaks", async () => {
    const frame = (data: object, id?: number): string =>
      `${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
    const cursors: unknown[] = [];
    await using server = await connect((request, response) => {
      cursors.push(request.headers["last-event-id"]);
      response.writeHead(200);
      if (cursors.length > 1) return response.write(frame({ type: "session.status_idle", processed_at: "" }, 2));
      response.write(frame({ type: "session.status_running", processed_at: "" }, 1));
      response.write(frame({ type: "event_start" }), () => response.destroy());
      return undefined;
    });
    const end = new AbortController();
    const found: string[] = [];
    for await (const happening of await server.client.follow("sesn_1", end.signal)) {
      found.push(describeHappening(happening));
      if (found.length === 3) end.abort();
    }
    expect(found).toEqual(["event session.status_running", "delta event_start", "event session.status_idle"]);
    expect(cursors).toEqual([undefined, "1"]);
  });
});

const describeHappening = (happening: LiveItem): string =>
  happening.type === "event" ? `event ${happening.event.type}` : `delta ${happening.delta.type}`;
