import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { scratchFolder } from "@tandem/storage/testing/scratch-store";
import { afterAll, expect, test } from "vitest";
import { MemoryEngine } from "../../testing/memory-engine.ts";
import { rawRequest } from "../../testing/raw-request.ts";
import { startTestServer } from "../../testing/start-test-server.ts";

const folder = await scratchFolder();
await mkdir(join(folder, "docs", "guides"), { recursive: true });
await writeFile(join(folder, "secret.html"), "a secret");
await writeFile(join(folder, "docs", "index.html"), "<title>Docs</title>");
await writeFile(join(folder, "docs", "guides", "rules.html"), "<title>Rules</title>");
await writeFile(join(folder, "docs", "notes.private"), "a secret");
await symlink(join(folder, "secret.html"), join(folder, "docs", "link.html"));
const server = await startTestServer({ engine: new MemoryEngine().engine, docs: join(folder, "docs") });
afterAll(() => server[Symbol.asyncDispose]());

const get = (path: string, method = "GET") => rawRequest(server, { method, path });

test("the docs are public, under a policy that allows only their own files", async () => {
  const { status, text, headers } = await get("/docs/guides/rules.html");
  expect({ status, text }).toEqual({ status: 200, text: "<title>Rules</title>" });
  expect(headers["content-security-policy"]).toMatch(/^default-src 'none'; script-src 'self';/);
  expect((await get("/docs/")).text).toBe("<title>Docs</title>");
  expect(await get("/docs")).toMatchObject({ status: 308, headers: { location: "/docs/" } });
});

test.each([
  "/docs/../secret.html",
  "/docs/%2e%2e/secret.html",
  "/docs/..%2fsecret.html",
  "/docs/guides/../../secret.html",
  "/docs//etc/passwd",
  "/docs/link.html",
  "/docs/notes.private",
  "/docs/missing.html",
  "/docs/__proto__",
])("%s does not lead out of the built files", async (path) => {
  const { status, text } = await get(path);
  expect([401, 404]).toContain(status);
  expect(text).not.toContain("a secret");
});

test("other methods and other paths need a token", async () => {
  for (const method of ["POST", "PUT", "DELETE"]) expect((await get("/docs/", method)).status).toBe(401);
  expect((await get("/docsish")).status).toBe(401);
});
