import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readPastFacts } from "./past-facts.ts";
import { findPastSessions } from "./past-sessions.ts";

const ID = "0b5fa0ff-5b2c-4f38-a2b0-6f6f8c4a9d11";

async function transcript(lines: readonly object[]) {
  const root = await mkdtemp(join(tmpdir(), "tandem-past-"));
  const folder = join(root, "projects", "-src-shop");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${ID}.jsonl`), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const [session] = await findPastSessions(root);
  return { session: session!, [Symbol.asyncDispose]: () => rm(root, { recursive: true }) };
}
const user = (timestamp: string) => ({ type: "user", timestamp, message: { role: "user", content: "Hello." } });

test("ignores an invalid timestamp, which would otherwise be stored and shown", async () => {
  const good = "2026-11-15T12:00:00.000Z";
  await using past = await transcript([user("\u001b]0;mine\u0007"), user(good), user("yesterday")]);
  expect(await readPastFacts(past.session)).toMatchObject({ begunAt: good, lastAt: good, messages: 3 });
});
