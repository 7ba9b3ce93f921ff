import type { IncomingMessage } from "node:http";
import { systemClock } from "@tandem/protocol";
import type { Records, TokenRow } from "@tandem/storage";
import { expect, test } from "vitest";
import { oneRecord } from "../../testing/one-record.ts";
import { SharedKey } from "./shared-key.ts";
import { ForwardSeal, SEAL_HEADER } from "./forward-seal.ts";
import { FORWARDED_HEADER } from "../request/forwarded-id.ts";

const request = { method: "POST", url: "/v1/stop", id: `req_${"a".repeat(24)}` };
const token = { sha256: `page:${"b".repeat(64)}` } as TokenRow;

const incoming = (seal: string, change: { method?: string; url?: string; id?: string } = {}): IncomingMessage => {
  const { method, url, id } = { ...request, ...change };
  return { method, url, headers: { [FORWARDED_HEADER]: id, [SEAL_HEADER]: seal } } as unknown as IncomingMessage;
};

test("every process on the store accepts a seal, also if two create the key at once", async () => {
  const store = oneRecord();
  const sealOf = (from: Records) => new ForwardSeal(new SharedKey(from), systemClock);
  const [first, second] = [sealOf(store), sealOf(store)];
  const [one, other] = await Promise.all([first.create(request, token), second.create(request, token)]);
  expect(await second.open(incoming(one))).toBe(token.sha256);
  expect(await first.open(incoming(other))).toBe(token.sha256);
  expect(await sealOf(oneRecord()).open(incoming(one))).toBeUndefined();
});

test("a seal is valid for one forwarded request and five minutes", async () => {
  let time = Date.now();
  const seal = new ForwardSeal(new SharedKey(undefined), { now: () => time });
  const now = time;
  const made = await seal.create(request, token);
  const open = (value: string, change?: Partial<typeof request>, at = now) => {
    time = at;
    return seal.open(incoming(value, change));
  };
  expect(await open(made)).toBe(token.sha256);
  // The clock of the other machine is a minute behind.
  expect(await open(made, {}, now - 60_000)).toBe(token.sha256);
  const forged = [
    open(made, { method: "DELETE" }),
    open(made, { url: "/v1/tokens" }),
    open(made, { id: `req_${"c".repeat(24)}` }),
    open(made, { id: "" }),
    open(made, {}, now + 300_001),
    open(made.replace("bbb", "ccc")),
    open(made.replace(String(now), String(now + 1))),
    open(""),
  ];
  expect(new Set(await Promise.all(forged))).toEqual(new Set([undefined]));
});
