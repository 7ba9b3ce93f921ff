import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import type { InjectedCredential } from "./injected-credential.ts";
import { exchange, openInjectionStage, openTls } from "./testing/injection-stage.ts";
import { statusOf } from "./testing/raw-exchange.ts";

const SECRET = 'se"cret&x=1 0123456789';
const PLACEHOLDER = "tandem-placeholder-42";

const credential =
  (places?: { header: boolean; body: boolean }, value = SECRET) =>
  (port: number): InjectedCredential => ({
    kind: "placeholder",
    hosts: [`api.example:${port}`],
    placeholder: PLACEHOLDER,
    value,
    ...(places && { in: places }),
  });
const BODY = { header: false, body: true };

const post = (body: string, headers = "", length = Buffer.byteLength(body)): string =>
  `POST / HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\nX-Token: ${PLACEHOLDER}\r\n${headers}Content-Length: ${length}\r\n\r\n${body}`;

test.each([
  ["plain text", "text/plain", `a ${PLACEHOLDER} b`, `a ${SECRET} b`],
  ["JSON", "application/json; charset=utf-8", `{"t":"${PLACEHOLDER}"}`, JSON.stringify({ t: SECRET })],
  ["a form", "application/x-www-form-urlencoded", `t=${PLACEHOLDER}&b=1`, `t=${encodeURIComponent(SECRET)}&b=1`],
])("replaces a placeholder in %s, escaped, with the right length", async (_name, type, body, expected) => {
  await using stage = await openInjectionStage(credential(BODY));
  const answer = await exchange(stage, post(body, `Content-Type: ${type}\r\n`));
  expect(statusOf(answer)).toBe(200);
  expect(stage.bodies).toEqual([expected]);
  expect(stage.seen[0]!.headers).toMatchObject({
    "content-length": String(Buffer.byteLength(expected)),
    "x-token": PLACEHOLDER,
  });
  expect(answer).not.toContain(expected);
  expect(answer).toContain("*****");
});

test("in a location that is off, the placeholder is sent as it is", async () => {
  await using stage = await openInjectionStage(credential({ header: true, body: false }, "0123456789"));
  await exchange(stage, post(PLACEHOLDER));
  expect(stage.bodies).toEqual([PLACEHOLDER]);
  expect(stage.seen[0]!.headers["x-token"]).toBe("0123456789");
});

test("replaces a placeholder across the chunks of a stream", async () => {
  await using stage = await openInjectionStage(credential(BODY));
  const pieces = ["a tandem-place", "holder-4", "2 tandem-placeholder-42tandem-", "placeholder-4x tandem"];
  const chunks = pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join("");
  const head = "POST / HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
  await exchange(stage, `${head}${chunks}0\r\n\r\n`);
  expect(stage.bodies).toEqual([`a ${SECRET} ${SECRET}tandem-placeholder-4x tandem`]);
  expect(stage.seen[0]!.headers["content-length"]).toBeUndefined();
});

test("sends large and compressed bodies as they are", async () => {
  await using stage = await openInjectionStage(credential(BODY));
  const large = PLACEHOLDER + "x".repeat(1_048_576);
  await exchange(stage, post(large));
  await exchange(stage, post(PLACEHOLDER, "Content-Encoding: gzip\r\n"));
  expect(stage.bodies.map((body) => body.slice(0, PLACEHOLDER.length))).toEqual([PLACEHOLDER, PLACEHOLDER]);
  expect(stage.bodies[0]!.length).toBe(large.length);
});

test("sends nothing if the client leaves before the end of the body", async () => {
  await using stage = await openInjectionStage(credential(BODY));
  const secure = await openTls(stage, stage.egress.caCertificate);
  const closed = new Promise((resolve) => secure.once("close", resolve));
  secure.on("error", () => {});
  secure.end(post("short", "", 500).replaceAll("HOST", `api.example:${stage.port}`));
  secure.resume();
  await closed;
  await exchange(stage, post("whole"));
  expect(stage.bodies).toEqual(["whole"]);
});

test("reads current credentials for each request of an open tunnel", async () => {
  let value: string | undefined = "first-0123456789";
  await using stage = await openInjectionStage(undefined, (port) => ({
    currentCredentials: async () => {
      if (value === "unreadable") throw new Error("The store is down.");
      return value === undefined ? [] : [credential({ header: true, body: true }, value)(port)];
    },
  }));
  const secure = await openTls(stage, stage.egress.caCertificate);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  agent.createConnection = () => secure;
  const send = async (): Promise<number | undefined> => {
    const headers = { host: `api.example:${stage.port}` };
    const sent = request({ agent, method: "POST", headers }).end(PLACEHOLDER);
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    await text(answer);
    return answer.statusCode;
  };
  await send();
  value = "second-0123456789";
  await send();
  value = undefined;
  await send();
  value = "unreadable";
  expect(await send()).toBe(502);
  expect(stage.bodies).toEqual(["first-0123456789", "second-0123456789", PLACEHOLDER]);
  secure.destroy();
});
