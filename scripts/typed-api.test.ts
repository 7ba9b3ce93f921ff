import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@tandem/client";
import type { Approval, KnownMcpServer, Session } from "@tandem/protocol";
import { describe, expect, expectTypeOf, test } from "vitest";

// Renaming a field in packages/protocol/src/api must be a compile error in the page and in the CLI. That holds as long as
// their calls have the declared types and no cast hides them.

const root = join(import.meta.dirname, "..");
const api = createClient();

test("calls have the types of the declarations", () => {
  const right = () => {
    expectTypeOf(api.call("approvals.retrieve", { params: { approval_id: "" } })).resolves.toEqualTypeOf<Approval>();
    expectTypeOf(api.call("sessions.retrieve", { params: { session_id: "" } })).resolves.toEqualTypeOf<Session>();
    expectTypeOf(api.call("mcp_servers.list")).resolves.toEqualTypeOf<{ data: KnownMcpServer[] }>();
  };
  const wrong = () => [
    // @ts-expect-error There is no such route.
    api.call("sessions.renamed"),
    // @ts-expect-error The path needs a session.
    api.call("sessions.retrieve"),
    // @ts-expect-error The parameter has another name.
    api.call("sessions.retrieve", { params: { session: "sesn_1" } }),
    // @ts-expect-error The query has no such field.
    api.call("approvals.list", { query: { state: "pending" } }),
    // @ts-expect-error The body has no such field.
    api.call("emergency.stop", { body: { why: "Too dear" } }),
    // @ts-expect-error A stream is not called.
    api.call("feed.stream"),
  ];
  // Only the compiler reads them.
  expect([right, wrong]).toHaveLength(2);
});

describe("no cast hides the type of an answer", () => {
  test.each(["apps/web/src", "apps/cli/src"])("in %s", (folder) => {
    const files = globSync("**/*.{ts,tsx}", { cwd: join(root, folder) }).filter((file) => !file.endsWith(".test.ts"));
    const calls = files.flatMap((file) =>
      callsIn(readFileSync(join(root, folder, file), "utf8")).map((call) => ({ file, ...call })),
    );
    expect(calls.length).toBeGreaterThan(40);
    expect(calls.filter(({ isCast }) => isCast)).toEqual([]);
  });

  test("a cast is found behind any number of parentheses, on the client itself and in a function that only casts", () => {
    const source = [
      'const a = (await api.call("x.y", { params: f(1) })) as A;',
      'const b = api.call("x.y") as unknown as Promise<B>;',
      "const c = (api as unknown as Other).call(name);",
      "const toD = (d: Wire): D => d as D;",
      "const e = data.map((each) => each as E);",
      'const f = (await api.call("x.y")).data;',
      "const g = (a: Wire) => b as G;",
      "const h = (kind: string) => kind as const;",
    ];
    const found = source.filter((line) => callsIn(line).some(({ isCast }) => isCast));
    expect(found).toEqual(source.slice(0, 5));
  });
});

/** A cast of the client, and a function that only casts its argument. */
const CASTS = [/\bapi as\b/g, /\b(\w+)(?:: [^()]+)?\)?(?:: [^=()]+)? =>\s+\1 as (?!const\b)\w+/g];

/** The calls of the API in a source, and whether the type of the client or of the answer is replaced. */
function callsIn(source: string): { text: string; isCast: boolean }[] {
  const casts = CASTS.flatMap((cast) => [...source.matchAll(cast)].map(([text]) => ({ text, isCast: true })));
  const calls = [...source.matchAll(/\bapi\s*\.(?:call|upload)\(/g)].map(({ index, 0: head }) => {
    const end = endOfCall(source, index + head.length);
    return { text: source.slice(index, end), isCast: /^\s*\)*\s*as\s+(?!const\b)\w/.test(source.slice(end)) };
  });
  return [...casts, ...calls];
}

function endOfCall(source: string, start: number): number {
  let at = start;
  for (let depth = 1; depth > 0 && at < source.length; at += 1) {
    if (source[at] === "(") depth += 1;
    else if (source[at] === ")") depth -= 1;
  }
  return at;
}
