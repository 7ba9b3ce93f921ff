import { describe, expect, test } from "vitest";
import { ApiError } from "./api-error.ts";
import { createClient } from "./create-client.ts";
import { sendJson, startApi } from "./testing/start-api.ts";

describe("a call", () => {
  test("fills in the path and the query, and sends the token", async () => {
    await using server = await startApi((_, response) => sendJson(response, { data: [], next_page: null }));
    const api = createClient({ baseUrl: server.baseUrl, token: "tnd_1" });
    await api.call("sessions.events.list", {
      params: { session_id: "a/b ?" },
      query: { limit: 5, order: "desc", types: ["agent.message", "user.message"], page: undefined },
    });
    const [{ method, path, headers }] = server.requests as [(typeof server.requests)[0]];
    const url = new URL(path!, server.baseUrl);
    expect([method, url.pathname]).toEqual(["GET", "/v1/sessions/a%2Fb%20%3F/events"]);
    expect([...url.searchParams]).toEqual([
      ["limit", "5"],
      ["order", "desc"],
      ["types[]", "agent.message"],
      ["types[]", "user.message"],
    ]);
    expect(headers.authorization).toBe("Bearer tnd_1");
    expect(headers["content-type"]).toBeUndefined();
  });

  test("sends a body as JSON and returns the answer", async () => {
    const stopped = { at: "2026-01-31T12:00:00Z", by: "Ana", reason: "Too dear" };
    await using server = await startApi((_, response) => sendJson(response, { stopped, interrupted: 2 }));
    const api = createClient({ baseUrl: server.baseUrl });
    const answer = await api.call("emergency.stop", { body: { reason: "Too dear" } });
    expect(answer.stopped.reason).toBe("Too dear");
    expect(server.requests).toMatchObject([
      {
        method: "POST",
        path: "/v1/stop",
        body: '{"reason":"Too dear"}',
        headers: { "content-type": "application/json" },
      },
    ]);
  });

  test("ends when its signal fires, with the signal's reason", async () => {
    const reached = Promise.withResolvers<void>();
    await using server = await startApi(() => reached.resolve());
    const end = new AbortController();
    const call = createClient({ baseUrl: server.baseUrl }).call("status.retrieve", { signal: end.signal });
    await reached.promise;
    end.abort();
    await expect(call).rejects.toMatchObject({ name: "AbortError" });
  });
});

test("an upload is a form with the file and its fields", async () => {
  await using server = await startApi((_, response) => sendJson(response, { type: "file", id: "file_1" }));
  const api = createClient({ baseUrl: server.baseUrl });
  const { id } = await api.upload("files.upload", { file: new Blob(["1,2\n"]), filename: "a.csv" });
  expect(id).toBe("file_1");
  const [{ method, path, headers, body }] = server.requests as [(typeof server.requests)[0]];
  expect([method, path]).toEqual(["POST", "/v1/files"]);
  const form = await new Response(body, { headers: { "content-type": headers["content-type"]! } }).formData();
  const file = form.get("file") as File;
  expect([file.name, await file.text()]).toEqual(["a.csv", "1,2\n"]);
});

test("a download is the answer as it is", async () => {
  await using server = await startApi((_, response) => void response.end("diff --git a b\n"));
  const api = createClient({ baseUrl: server.baseUrl });
  const answer = await api.download("sessions.worktree.patch", { params: { session_id: "sesn_1" } });
  expect(await answer.text()).toBe("diff --git a b\n");
  expect(server.requests[0]!.path).toBe("/v1/sessions/sesn_1/worktree/patch");
});

describe("an error", () => {
  const refuse = (status: number, body: unknown) => startApi((_, response) => sendJson(response, body, status));

  test("has the type, the code, the sentence, the fix and the request's id", async () => {
    await using server = await refuse(404, {
      type: "error",
      error: {
        type: "not_found_error",
        message: "The environment env_1 is archived. Choose another one.",
        fix: "Choose another one.",
        details: { error_code: "environment_archived" },
      },
      request_id: "req_1",
    });
    const call = createClient({ baseUrl: server.baseUrl }).call("status.retrieve");
    await expect(call).rejects.toBeInstanceOf(ApiError);
    await expect(call).rejects.toMatchObject({
      status: 404,
      type: "not_found_error",
      code: "environment_archived",
      message: "The environment env_1 is archived. Choose another one.",
      fix: "Choose another one.",
      requestId: "req_1",
    });
  });

  test("of a proxy, which has no JSON, names the status", async () => {
    await using server = await startApi((_, response) => void response.writeHead(502).end("<h1>Bad gateway</h1>"));
    const call = createClient({ baseUrl: server.baseUrl }).call("status.retrieve");
    await expect(call).rejects.toMatchObject({ status: 502, type: "unknown", code: undefined, fix: null });
  });

  test("of a server that is not running has status 0 and the cause", async () => {
    const { baseUrl } = await stoppedServer();
    const call = createClient({ baseUrl }).call("status.retrieve");
    await expect(call).rejects.toMatchObject({ status: 0, type: "unreachable", cause: expect.any(Error) });
  });

  test("401 is announced before it is thrown", async () => {
    await using server = await refuse(401, {});
    let announced = 0;
    const api = createClient({ baseUrl: server.baseUrl, onUnauthorized: () => (announced += 1) });
    await expect(api.call("status.retrieve")).rejects.toMatchObject({ status: 401 });
    expect(announced).toBe(1);
  });

  test("is translated into the caller's own, refused or unreachable", async () => {
    const toError = ({ status }: ApiError) => new RangeError(`status ${status}`);
    await using server = await refuse(409, {});
    const refused = createClient({ baseUrl: server.baseUrl, toError }).call("status.retrieve");
    await expect(refused).rejects.toThrow(new RangeError("status 409"));
    const { baseUrl } = await stoppedServer();
    await expect(createClient({ baseUrl, toError }).call("status.retrieve")).rejects.toThrow(
      new RangeError("status 0"),
    );
  });
});

async function stoppedServer() {
  await using server = await startApi(() => undefined);
  return server;
}
