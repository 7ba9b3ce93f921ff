import { expect, test } from "vitest";
import type { Engine } from "@tandem/sessions";
import { startTestServer } from "../../../testing/start-test-server.ts";

const engine = (noted: unknown[]): Engine =>
  ({ audit: { note: async (entry: unknown) => void noted.push(entry) } }) as unknown as Engine;

test("a token's secret is returned once; a revoked token is refused", async () => {
  const noted: { kind: string }[] = [];
  await using server = await startTestServer({ engine: engine(noted) });
  const made = await server.request("/v1/tokens", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: "build", scopes: ["read"] }),
  });
  const { id, secret } = (await made.json()) as { id: string; secret: string };
  const listed = await (await server.request("/v1/tokens")).text();
  expect(listed).toContain(id);
  expect(listed).not.toContain(secret);

  const asBuild = { headers: { authorization: `Bearer ${secret}` } };
  expect((await server.request("/v1/tokens", asBuild)).status).toBe(403);
  expect((await server.request(`/v1/tokens/${id}`, { method: "DELETE" })).status).toBe(200);
  expect((await server.request("/v1/tokens", asBuild)).status).toBe(401);
  expect(noted.map(({ kind }) => kind)).toEqual(["token.created", "token.revoked"]);
});

test("a server without health checks reports that", async () => {
  await using server = await startTestServer({ engine: engine([]) });
  const answer = await server.request("/v1/status");
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(await answer.text()).toContain("does not tell how it is");
});
