import { once } from "node:events";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { expect, test } from "vitest";
import { type InjectedCredential, injectHeaders } from "./injected-credential.ts";
import { openEgressStage } from "./testing/egress-stage.ts";
import { exchange, openInjectionStage, openTls } from "./testing/injection-stage.ts";
import { statusOf } from "./testing/raw-exchange.ts";
import { Scratch } from "./testing/scratch.ts";

const SECRET = "ghp_realsecret0123456789";
const PLACEHOLDER = "tandem-placeholder-42";

const withHeaders = (port: number): InjectedCredential => ({
  kind: "headers",
  hosts: [`api.example:${port}`],
  headers: { Authorization: `Bearer ${SECRET}` },
});
const withPlaceholder = (port: number): InjectedCredential => ({
  kind: "placeholder",
  hosts: [`api.example:${port}`],
  placeholder: PLACEHOLDER,
  value: SECRET,
});

const get = (headers: string, path = "/"): string =>
  `GET ${path} HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n${headers}\r\n`;

test("the real header replaces the client's, and does not come back", async () => {
  await using stage = await openInjectionStage(withHeaders);
  const answer = await exchange(stage, get("Authorization: Bearer own\r\nAccept-Encoding: gzip\r\n"));
  expect(statusOf(answer)).toBe(200);
  expect(stage.seen[0]!.headers).toMatchObject({ authorization: `Bearer ${SECRET}`, "accept-encoding": "identity" });
  expect(answer).not.toContain(SECRET);
  expect(answer).toContain("*".repeat(SECRET.length));
});

test("a placeholder is replaced in headers only, also inside Basic", async () => {
  await using stage = await openInjectionStage(withPlaceholder);
  const basic = Buffer.from(`x-access-token:${PLACEHOLDER}`).toString("base64");
  const real = Buffer.from(`x-access-token:${SECRET}`).toString("base64");
  const first = await exchange(stage, get(`X-Token: a ${PLACEHOLDER}\r\nAuthorization: Basic ${basic}\r\n`));
  expect(stage.seen[0]!.headers).toMatchObject({ "x-token": `a ${SECRET}`, authorization: `Basic ${real}` });
  expect(first).not.toContain(SECRET);
  expect(first).not.toContain(real);
  const body = `{"token":"${PLACEHOLDER}"}`;
  const second = await exchange(
    stage,
    `POST /?t=${PLACEHOLDER} HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  expect(stage.seen[1]!.url).toBe(`/?t=${PLACEHOLDER}`);
  expect(second).toContain(body);
});

test("other hosts have their own TLS: the proxy cannot see or change it", async () => {
  await using stage = await openInjectionStage(() => ({ ...withHeaders(443), hosts: ["other.example"] }));
  await expect(openTls(stage, stage.egress.caCertificate)).rejects.toThrow(/unable to verify|self-signed|issuer/);
  const secure = await openTls(stage, stage.ca);
  secure.write(get(`X-Token: ${PLACEHOLDER}\r\n`).replaceAll("HOST", `api.example:${stage.port}`));
  await once(secure, "data");
  expect(stage.seen[0]!.headers["x-token"]).toBe(PLACEHOLDER);
  expect(stage.seen[0]!.headers.authorization).toBeUndefined();
  secure.destroy();
});

test("the real host is verified: a certificate of an unknown authority is refused", async () => {
  await using stage = await openInjectionStage(withHeaders, { ca: [] });
  expect(statusOf(await exchange(stage, get("")))).toBe(502);
  expect(stage.seen).toEqual([]);
});

test("a certificate of another name is refused", async () => {
  await using stage = await openInjectionStage((port) => ({ ...withHeaders(port), hosts: [`evil.example:${port}`] }));
  const secure = await openTls(stage, stage.egress.caCertificate, "evil.example");
  secure.write(`GET / HTTP/1.1\r\nHost: evil.example:${stage.port}\r\nConnection: close\r\n\r\n`);
  const [data] = (await once(secure, "data")) as [Buffer];
  expect(statusOf(data.toString())).toBe(502);
  expect(stage.seen).toEqual([]);
  secure.destroy();
});

test.each([
  ["another host", 403, "GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"],
  ["another port", 403, "GET / HTTP/1.1\r\nHost: api.example:1\r\nConnection: close\r\n\r\n"],
  ["two hosts", 403, "GET / HTTP/1.1\r\nHost: HOST\r\nHost: evil.example\r\nConnection: close\r\n\r\n"],
  ["an absolute URL", 403, "GET https://evil.example/ HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n"],
  ["a tunnel in the tunnel", 403, "CONNECT evil.example:443 HTTP/1.1\r\nHost: HOST\r\n\r\n"],
  ["TRACE, which returns the credential", 403, "TRACE / HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n"],
  ["an upgrade", 403, "GET / HTTP/1.1\r\nHost: HOST\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"],
  [
    "a length and chunks",
    400,
    "POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  ],
  ["a line feed in a header", 400, "GET / HTTP/1.1\r\nHost: HOST\r\nX-A: a\nAuthorization: b\r\n\r\n"],
])("inside a tunnel, %s is refused", async (_name, status, bytes) => {
  await using stage = await openInjectionStage(withHeaders);
  const answer = await exchange(stage, bytes);
  expect(statusOf(answer), answer).toBe(status);
  expect(answer).not.toContain(SECRET);
  expect(stage.seen).toEqual([]);
});

test("a plain http request never gets the credential", async () => {
  await using scratch = new Scratch();
  const { createServer } = await import("node:http");
  const seen: IncomingMessage[] = [];
  const port = await scratch.listen(
    createServer((request, response) => {
      seen.push(request);
      response.end();
    }),
  );
  const { egress } = await openEgressStage(scratch, [], { isAllowed: () => true, credentials: [withHeaders(port)] });
  const host = `api.example:${port}`;
  const sent = httpRequest({ socketPath: egress.socket, path: `http://${host}/`, headers: { host } }).end();
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  answer.resume();
  expect(seen[0]!.headers.authorization).toBeUndefined();
});

test("without credentials there is no authority", async () => {
  await using scratch = new Scratch();
  const { egress } = await openEgressStage(scratch, []);
  expect([egress.caCertificate, egress.caBundle]).toEqual([undefined, undefined]);
});

test("the bundle has the authority and the system's roots, and no key", async () => {
  await using stage = await openInjectionStage(withHeaders);
  const bundle = stage.egress.caBundle!;
  expect(bundle).toContain(stage.egress.caCertificate!.trim());
  expect(bundle.match(/BEGIN CERTIFICATE/g)!.length).toBeGreaterThan(50);
  expect(bundle).not.toContain("PRIVATE KEY");
});

test("a value that looks like a replacement pattern is used as it is", () => {
  const credential = { kind: "placeholder", hosts: [], placeholder: PLACEHOLDER, value: "a$&b$1" } as const;
  expect(injectHeaders([["x-token", PLACEHOLDER]], [credential])).toEqual([["x-token", "a$&b$1"]]);
});
