import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import type { InjectedCredential } from "./injected-credential.ts";
import { openEgressStage } from "./testing/egress-stage.ts";
import { exchange, openInjectionStage } from "./testing/injection-stage.ts";
import { withoutSecrets } from "./secret-filter.ts";
import { statusOf } from "./testing/raw-exchange.ts";
import { Scratch } from "./testing/scratch.ts";
import { openTlsHost } from "./testing/tls-host.ts";

const SECRET = "vault-secret-0123456789";
const PLACEHOLDER = "tandem-placeholder-42";
const credential = (port: number): InjectedCredential => ({
  kind: "placeholder",
  hosts: [`api.example:${port}`],
  placeholder: PLACEHOLDER,
  value: SECRET,
});

test.each(["GET", "DELETE", "POST"])("%s: a length that Connection names still frames the body", async (method) => {
  await using stage = await openInjectionStage(credential);
  const smuggled = `TRACE /inner HTTP/1.1\r\nHost: other.example\r\nX-Token: ${PLACEHOLDER}\r\n\r\n`;
  const head = `${method} /outer HTTP/1.1\r\nHost: HOST\r\nConnection: close, Content-Length\r\n`;
  await exchange(stage, `${head}Content-Length: ${smuggled.length}\r\n\r\n${smuggled}`);
  expect(stage.seen.map(({ url }) => url)).toEqual(["/outer"]);
  expect(stage.bodies).toEqual([smuggled]);
});

test.each([
  ["gzip", gzipSync],
  ["deflate, br", (text: string) => brotliCompressSync(deflateSync(text))],
])("finds a secret in an answer that is compressed against the request: %s", async (encoding, compress) => {
  await using scratch = new Scratch();
  const { port, ca } = await openTlsHost(scratch, "api.example", ({ headers }, response) => {
    const body = compress(`echo ${headers.authorization}`);
    response.writeHead(200, { "content-encoding": encoding, "content-length": body.length }).end(body);
  });
  const { egress } = await openEgressStage(scratch, [], {
    isAllowed: () => true,
    credentials: [credential(port)],
    ca: [ca],
  });
  const answer = await exchange({ egress, port }, GET);
  expect(statusOf(answer)).toBe(200);
  expect(answer).toContain(`echo Bearer ${"*".repeat(SECRET.length)}`);
  expect(answer).not.toMatch(/content-(encoding|length)/i);
});

test("refuses an answer whose encoding it cannot read", async () => {
  await using scratch = new Scratch();
  const { port, ca } = await openTlsHost(scratch, "api.example", ({ headers }, response) => {
    response.writeHead(200, { "content-encoding": "rot13" }).end(headers.authorization);
  });
  const { egress } = await openEgressStage(scratch, [], {
    isAllowed: () => true,
    credentials: [credential(port)],
    ca: [ca],
  });
  const answer = await exchange({ egress, port }, GET);
  expect(statusOf(answer)).toBe(502);
  expect(answer).not.toContain(SECRET);
});

test("overwrites the longer of two secrets with the same start", () => {
  expect(withoutSecrets(`${SECRET}-and-more`, [SECRET, `${SECRET}-and-more`])).toMatch(/^\*+$/);
});

const GET = `GET / HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\nAuthorization: Bearer ${PLACEHOLDER}\r\n\r\n`;
