import { expect, inject, test } from "vitest";
import { REDACTED, Redactor, redactText, redactValue } from "./redactor.ts";

const SECRET = "gateway/key+with=signs&1234";
const WORD = "0123456789abcdefghijABCDEFGHIJ_-";
const HEX = "0123456789ABCDEF";

type Random = (below: number) => number;

/** Deterministic pseudo-random integers (mulberry32). */
function randomFrom(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

const pick = <T>(random: Random, from: readonly T[]): T => from[random(from.length)]!;
const some = (random: Random, alphabet: string, length: number): string =>
  Array.from({ length }, () => alphabet[random(alphabet.length)]).join("");

const KINDS: readonly ((random: Random) => string)[] = [
  (random) => `tandem_${some(random, WORD, 43)}`,
  (random) => `sk-ant-api03-${some(random, WORD, 20 + random(80))}`,
  (random) => `sk-ant-oat01-${some(random, WORD, 20)}`,
  (random) => btoa(`user:tandem_${some(random, WORD, 43)}`),
  (random) => btoa(`${some(random, WORD, random(3))}sk-ant-api03-${some(random, WORD, 24)}`),
  (random) => `gh${pick(random, ["p", "o", "u", "s", "r"])}_${some(random, HEX, 36)}`,
  (random) => `github_pat_${some(random, HEX, 60)}`,
  (random) => `glpat-${some(random, WORD, 20)}`,
  (random) => `xoxb-${some(random, HEX, 30)}`,
  (random) => `ya29.${some(random, WORD, 60)}`,
  (random) => `${pick(random, ["AKIA", "ASIA"])}${some(random, HEX, 16)}`,
  (random) => `AIza${some(random, WORD, 35)}`,
  (random) => `sk-proj-${some(random, WORD, 60)}`,
  (random) => `sk_live_${some(random, HEX, 24)}`,
  (random) => `hf_${some(random, HEX, 34)}`,
  (random) => `xapp-1-${some(random, HEX, 40)}`,
  (random) => `npm_${some(random, HEX, 36)}`,
  (random) => `eyJ${some(random, WORD, 30)}.eyJ${some(random, WORD, 60)}.${some(random, WORD, 43)}`,
  () => SECRET,
  () => encodeURIComponent(SECRET),
  () => btoa(`x${SECRET}`),
];

/** The part of a credential that must not be visible anywhere. */
const core = (credential: string): string => credential.slice(8, -6);

/** Any character, with those that the serialised form escapes, that URLs encode or that belong to words. */
const characters = (random: Random): string =>
  pick(random, ["\n", "\r", "\t", '"', "\\", "n", "A", "_", "-", "%0A", "\u0000", "ß", "🙂", ":", "/", " ", "="]);

const anyText = (random: Random): string => Array.from({ length: random(30) }, () => characters(random)).join("");

/** A JSON value with the text in it, as a value or a key, at some depth. */
function nested(random: Random, text: string, depth: number): unknown {
  if (depth === 0) return random(3) === 0 ? { [text]: random(9) } : text;
  const inner = nested(random, text, depth - 1);
  return pick<() => unknown>(random, [
    () => [random(9), inner, null],
    () => ({ before: anyText(random), [anyText(random)]: inner, after: true }),
  ])();
}

const redactor = new Redactor([SECRET]);

test("a credential at any offset, after any character, at any depth and in any pieces is redacted", () => {
  const random = randomFrom(inject("soak") ? Date.now() : 17);
  for (let round = 0; round < (inject("soak") ? 100_000 : 2_000); round++) {
    const credential = pick(random, KINDS)(random);
    const before = anyText(random);
    const text = `${before}${credential}${pick(random, ["", "\n", '"', " ", "\\", ",", "🙂"])}${anyText(random)}`;
    const seen = `round ${round}: ${JSON.stringify(text)}`;

    const clean = redactor.text(text);
    expect(clean, seen).not.toContain(core(credential));
    expect(clean, seen).toContain(REDACTED);

    const value = JSON.stringify(redactor.value(nested(random, text, random(12))));
    expect(value, seen).not.toContain(core(credential));

    const stream = redactor.stream();
    let streamed = "";
    for (let at = 0; at < text.length;) {
      const length = 1 + random(pick(random, [1, 4, 30]));
      streamed += stream.push(text.slice(at, (at += length)));
      expect(streamed, seen).not.toContain(core(credential));
    }
    expect(streamed + stream.end(), seen).toBe(clean);
  }
});

test("JSON that may have a credential is known before it is parsed", () => {
  const known = new Redactor();
  const random = randomFrom(inject("soak") ? Date.now() : 5);
  for (let round = 0; round < (inject("soak") ? 100_000 : 4_000); round++) {
    const key = `-----BEGIN ${pick(random, ["", "RSA "])}PRIVATE KEY-----\n${some(random, WORD, 20)}\t\n${anyText(random)}`;
    const url = `postgres://${anyText(random)}:${anyText(random)}\u0001@db`;
    const text = pick<() => string>(random, [() => pick(random, KINDS)(random), () => key, () => url, () => ""])();
    const value = nested(random, `${anyText(random)}${text}${anyText(random)}`, random(6));
    const json = JSON.stringify(value);
    if (!known.mayChange(json)) expect(known.value(value), json).toBe(value);
  }
  expect(known.mayChange(JSON.stringify({ text: 'see https://a.example/b, "c"\n', path: "/tmp/tandem" }))).toBe(false);
});

test("a URL keeps all but its password", () => {
  expect(redactText("https://ann:hunter2@mcp.example/x?y and redis://:pa55@h")).toBe(
    `https://ann:${REDACTED}@mcp.example/x?y and redis://:${REDACTED}@h`,
  );
  const stream = redactor.stream();
  const shown = Array.from("see https://ann:hunt@er2@mcp.example/x", (piece) => stream.push(piece)).join("");
  expect(shown + stream.end()).toBe(`see https://ann:${REDACTED}@mcp.example/x`);
  const cut = redactor.stream();
  expect(cut.push("https://ann:hunter2@mcp") + cut.end()).toBe(`https://ann:${REDACTED}@mcp`);
});

test.each([
  "sesn_01M7F3KV23TPTQNJYK9XDCHKJZ",
  "tandem_up and tandem.notice",
  "http://127.0.0.1:4760/v1/agents",
  "git@github.com:acme/shop.git",
  '{"url":"https://shop.example:8443","mail":"ann@shop.example"}',
  "eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbXX0=",
  "the task-antenna and a bearer of news",
])("%s is kept, and a stream holds little of it back", (text) => {
  expect(redactText(text)).toBe(text);
  const stream = redactor.stream();
  let shown = "";
  for (const [index, piece] of Array.from(`${text} and more text`).entries()) {
    shown += stream.push(piece);
    expect(index + 1 - shown.length).toBeLessThan(40);
  }
  expect(shown + stream.end()).toBe(`${text} and more text`);
});

test("a stream shows ordinary text at once", () => {
  const stream = redactor.stream();
  expect(stream.push("Hello, this is ")).toBe("Hello, this is ");
  expect(stream.push("a test of tandem")).toBe("a test of ");
  expect(stream.push("s and bicycles.")).toBe("tandems and bicycles.");
});

test("a value without credentials is returned as it is, and equal keys stay apart", () => {
  const value = { a: ["b", { c: 1 }] };
  expect(redactValue(value)).toBe(value);
  const key = (letter: string): string => `tandem_${letter.repeat(43)}`;
  expect(redactValue({ [key("a")]: 1, [key("b")]: 2 })).toEqual({ [REDACTED]: 1, [`${REDACTED} 2`]: 2 });
});

// Takes milliseconds if it is linear, minutes if not.
test.each([
  ["eyJ", "eyJ"],
  ["a header without an end", `${"eyJ".repeat(170)}.`],
  ["a URL without a password", "://a:"],
  ["short tokens", "tandem_aaaaaaaaaaaaaaaaaa "],
  ["starts", "tandem_"],
])("a megabyte of %s is no trouble", (_, piece) => {
  const text = piece.repeat(1_000_000 / piece.length);
  expect(redactText(text).length).toBeGreaterThan(0);
});

test.each(["\n", String.raw`\n`, "\r\n"])("the body of a private key is redacted, with lines that end in %j", (end) => {
  const body = Array.from({ length: 4 }, () => "c2VjcmV0+c2VjcmV0/c2VjcmV0".repeat(2)).join(end);
  const text = `A${end}-----BEGIN RSA PRIVATE KEY-----${end}${body}==${end}-----END RSA PRIVATE KEY-----${end}Then other text.`;
  const clean = `A${end}-----BEGIN RSA PRIVATE KEY-----${REDACTED}-----END RSA PRIVATE KEY-----${end}Then other text.`;
  expect(redactText(text)).toBe(clean);
  const stream = new Redactor().stream();
  expect(Array.from(text, (piece) => stream.push(piece)).join("") + stream.end()).toBe(clean);
});
