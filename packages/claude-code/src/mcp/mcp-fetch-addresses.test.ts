import { expect, inject, test } from "vitest";
import { createMcpFetch } from "./mcp-fetch.ts";

const RUNS = inject("soak") ? 20_000 : 500;

const below = (limit: number): number => Math.floor(Math.random() * limit);
const pick = <T>(all: readonly T[]): T => all[below(all.length)]!;

const PRIVATE: [number, number][] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
].map(([address, prefix]) => [numberOf(address as string), prefix as number]);

function numberOf(address: string): number {
  return address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
}

const bytesOf = (ip: number): number[] => [24, 16, 8, 0].map((shift) => Math.floor(ip / 2 ** shift) % 256);
const dotted = (ip: number): string => bytesOf(ip).join(".");

/** A number as a URL may spell it. */
const spelled = (value: number): string =>
  pick([String(value), `0x${value.toString(16)}`, `0X${value.toString(16).toUpperCase()}`, `0${value.toString(8)}`]);

/** The spellings of an IPv4 address that a URL accepts. */
function spellings(ip: number): string[] {
  const [a = 0, b = 0, c = 0, d = 0] = bytesOf(ip);
  const hex = [a * 256 + b, c * 256 + d].map((word) => word.toString(16)).join(":");
  return [
    spelled(ip),
    `${spelled(a)}.${spelled(b * 65_536 + c * 256 + d)}`,
    `${spelled(a)}.${spelled(b)}.${spelled(c * 256 + d)}`,
    [a, b, c, d].map(spelled).join("."),
    `${dotted(ip)}.`,
    dotted(ip).replaceAll(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
    dotted(ip).replaceAll(".", "。"),
    encodeURIComponent(dotted(ip)).replace(/\d/, (digit) => `%${digit.codePointAt(0)!.toString(16)}`),
    `[::ffff:${dotted(ip)}]`,
    `[0:0:0:0:0:FFFF:${hex}]`,
    `[::ffff:${hex}]`,
    `[::${hex}]`,
    `[64:ff9b::${dotted(ip)}]`,
    `[64:ff9b::${hex}]`,
    `[2002:${hex}::1]`,
  ];
}

test("a private address is refused in every spelling, before a connection or a lookup", async () => {
  const resolve = (name: string): void => expect.fail(`${name} was looked up`);
  await using guarded = createMcpFetch(true, { resolve });
  for (let run = 0; run < RUNS; run += 1) {
    const [network, prefix] = pick(PRIVATE);
    const host = pick(spellings(network + below(2 ** (32 - prefix))));
    const url = `${pick(["http", "https"])}://${pick(["", "user:word@"])}${host}${pick(["", ":8080"])}/mcp`;
    await expect(guarded.fetch(url), url).rejects.toMatchObject({ code: "forbidden", fix: expect.any(String) });
  }
});

test.each([
  "[::]",
  "[::1]",
  "[fe80::1]",
  "[fd00::1]",
  "[fc00::1]",
  "[fec0::1]",
  "[ff02::1]",
  "[2001:db8::1]",
  "[100::1]",
])("%s is refused", async (host) => {
  await using guarded = createMcpFetch(true);
  await expect(guarded.fetch(`http://${host}/`)).rejects.toMatchObject({ code: "forbidden" });
});

test("a zone id does not hide an address", async () => {
  await using guarded = createMcpFetch(true);
  await expect(guarded.fetch("http://[fe80::1%25eth0]/")).rejects.toThrow("Invalid URL");
});
