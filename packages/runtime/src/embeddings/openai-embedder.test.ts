import { createServer } from "node:http";
import type { EmbeddingsConfig } from "@tandem/protocol";
import { listenOnLoopback, startRehearsal } from "@tandem/rehearsal";
import { expect, test } from "vitest";
import type { GovernorClock } from "../governor-clock.ts";
import type { Wait } from "../llm-runtime.ts";
import { createEmbedder } from "./create-embedder.ts";
import type { Embedder } from "./embedder.ts";

/** A clock without waits. */
const clock: GovernorClock = {
  now: () => Date.now(),
  after: (_milliseconds, callback) => {
    queueMicrotask(callback);
    return () => undefined;
  },
  random: () => 0.5,
};

const open = async (config: Partial<EmbeddingsConfig>): Promise<Embedder | undefined> =>
  createEmbedder(
    { backend: "openai", model: "small", ...config },
    { readSecret: (reference) => Promise.resolve(`secret of ${reference}`), folder: "/nowhere", clock },
  );

const dot = (a: Float32Array, b: Float32Array): number => a.reduce((sum, value, index) => sum + value * b[index]!, 0);

interface Asked {
  path: string | undefined;
  authorization: string | undefined;
  body: { model: string; input: string[] };
}
type Answer = { status?: number; headers?: Record<string, string>; body: unknown };

/** A server with scripted answers; the last one repeats. */
async function endpoint(...answers: ((asked: Asked) => Answer)[]) {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => (text += chunk));
    request.on("end", () => {
      const { url: path, headers } = request;
      const received = { path, authorization: headers.authorization, body: JSON.parse(text) as Asked["body"] };
      asked.push(received);
      const { status = 200, headers: own, body } = answers[Math.min(asked.length, answers.length) - 1]!(received);
      response.writeHead(status, { "content-type": "application/json", ...own });
      response.end(typeof body === "string" ? body : JSON.stringify(body));
    });
  });
  const { url, ...listening } = await listenOnLoopback(server);
  return { ...listening, asked, baseUrl: `${url}/v1` };
}

/** One vector per text, made of its length. */
const lengths = ({ body }: Asked): Answer => ({
  body: { data: body.input.map((text, index) => ({ index, embedding: [text.length, 1] })).toReversed() },
});
const refusal = (status: number, error: object, headers?: Record<string, string>) => (): Answer => {
  return { status, headers, body: { error } };
};

test("creates no embedder without a backend, and reports missing settings", async () => {
  expect(await open({ backend: "none" })).toBeUndefined();
  await expect(open({ model: undefined, baseUrl: "http://127.0.0.1:1/v1" })).rejects.toMatchObject({
    code: "not_configured",
    message: expect.stringContaining("model"),
  });
  await expect(open({})).rejects.toMatchObject({ code: "not_configured", fix: expect.stringContaining("baseUrl") });
  await expect(open({ backend: "onnx" })).rejects.toMatchObject({
    code: "not_configured",
    message: expect.stringContaining("path"),
  });
});

test("texts with common words are close, by the rehearsal's fake vectors", async () => {
  await using rehearsal = await startRehearsal();
  const embedder = (await open({ baseUrl: `${rehearsal.url}/v1/`, apiKey: "env:KEY" }))!;
  expect(embedder.model).toBe("small");
  const [a, b, c] = await embedder.embed(["refund policy", "the refund policy", "zebra"]);
  expect(dot(a!, b!)).toBeGreaterThan(0.5);
  expect(dot(a!, c!)).toBeLessThan(0.4);
  expect(dot(a!, a!)).toBeCloseTo(1);
  expect(await embedder.embed(["refund policy"])).toEqual([a]);
  expect(await embedder.embed([])).toEqual([]);
  expect(rehearsal.embeddingRequests).toHaveLength(2);
  expect(rehearsal.embeddingRequests[0]!.headers.authorization).toBe("Bearer secret of env:KEY");
  expect(rehearsal.misses).toEqual([]);
});

test("splits many texts into requests and keeps their order", async () => {
  await using server = await endpoint(lengths);
  const embedder = (await open({ baseUrl: server.baseUrl }))!;
  const texts = Array.from({ length: 200 }, (_, index) => "x".repeat(1 + ((index * 37) % 100)));
  texts.push("y".repeat(90_000), "z".repeat(90_000));
  const vectors = await embedder.embed(texts);
  expect(vectors.map(([first]) => first)).toEqual(texts.map(({ length }) => length));
  expect(server.asked.map(({ body }) => body.input.length).toSorted((a, b) => a - b)).toEqual([1, 9, 64, 64, 64]);
  expect(server.asked[0]).toMatchObject({ path: "/v1/embeddings", authorization: undefined, body: { model: "small" } });
});

test("retries transient errors and reports the waits; does not retry others", async () => {
  const busy = refusal(429, { message: "Too many", type: "rate_limit" }, { "retry-after": "2" });
  await using server = await endpoint(busy, refusal(503, { message: "Away" }), lengths);
  const waits: Wait[] = [];
  const embedder = (await open({ baseUrl: server.baseUrl }))!;
  const [vector] = await embedder.embed(["four"], { onWait: (wait) => waits.push(wait) });
  expect(vector).toEqual(Float32Array.of(4, 1));
  expect(waits.map(({ reason, attempt }) => [reason, attempt])).toEqual([
    ["transient", 2],
    ["transient", 3],
  ]);

  const cases: [(asked: Asked) => Answer, object][] = [
    [
      refusal(401, { message: "Bad key" }),
      { code: "auth_rejected", fix: expect.stringContaining("embeddings.apiKey") },
    ],
    [refusal(404, { message: 'model "small" not found' }), { code: "unknown_model" }],
    [refusal(404, {}), { code: "invalid_request", fix: expect.stringContaining("embeddings.baseUrl") }],
    [() => ({ body: "<html>hello</html>" }), { code: "server_error", message: expect.stringContaining("no list") }],
    [() => ({ body: { data: [] } }), { message: "The embedding model gave 0 vectors for 1 texts." }],
    [() => ({ body: { data: [{ embedding: [] }] } }), { message: expect.stringContaining("empty vector") }],
    [() => ({ body: { data: [{ embedding: [1, "x"] }] } }), { code: "server_error" }],
  ];
  for (const [answer, expected] of cases) {
    await using wrong = await endpoint(answer);
    await expect((await open({ baseUrl: wrong.baseUrl }))!.embed(["text"])).rejects.toMatchObject(expected);
    expect(wrong.asked).toHaveLength(1);
  }
});

test("does not follow a redirect: the texts go to the configured service only", async () => {
  await using elsewhere = await endpoint(lengths);
  await using service = await endpoint(() => ({ status: 307, headers: { location: elsewhere.baseUrl }, body: "" }));
  const embedder = (await open({ baseUrl: service.baseUrl }))!;
  await expect(embedder.embed(["a secret"])).rejects.toThrow("Redirect");
  expect([service.asked.length, elsewhere.asked.length]).toEqual([1, 0]);
  await embedder.close();
});

test("gives up on a service that stays unavailable", async () => {
  await using server = await endpoint(refusal(500, { message: "Broken" }));
  const embedder = (await open({ baseUrl: server.baseUrl }))!;
  await expect(embedder.embed(["a"])).rejects.toMatchObject({ code: "server_error", message: "Broken" });
  expect(server.asked).toHaveLength(5);
  const nowhere = (await open({ baseUrl: "http://127.0.0.1:1/v1" }))!;
  await expect(nowhere.embed(["a"])).rejects.toMatchObject({
    code: "network",
    fix: expect.stringContaining("baseUrl"),
  });
});

test("rejects vectors of another length and empty texts", async () => {
  const numbers = (count: number) => (): Answer => ({
    body: { data: [{ embedding: Array.from({ length: count }, () => 1) }] },
  });
  await using server = await endpoint(numbers(3), numbers(4));
  const embedder = (await open({ baseUrl: server.baseUrl }))!;
  await embedder.embed(["a"]);
  await expect(embedder.embed(["a"])).rejects.toMatchObject({
    message: "The embedding model gave vectors of 3 and of 4 numbers.",
  });
  await expect(embedder.embed(["a", " "])).rejects.toMatchObject({ code: "invalid_request" });
  expect(server.asked).toHaveLength(2);
});

test("ends when the signal fires or the embedder is closed", async () => {
  await using server = await endpoint(lengths);
  const embedder = (await open({ baseUrl: server.baseUrl }))!;
  await expect(embedder.embed(["a"], { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "aborted" });
  await embedder.close();
  await expect(embedder.embed(["a"])).rejects.toMatchObject({ code: "aborted" });
  expect(server.asked).toEqual([]);
});
