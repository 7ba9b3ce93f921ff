import {
  always,
  type ModelRequest,
  object,
  type Reply,
  type Rehearsal,
  serverError,
  startRehearsal,
  text,
  toolUse,
  when,
} from "@tandem/rehearsal";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { scratchMachine } from "../../testing/run-tandem.ts";

const env = { ANTHROPIC_API_KEY: "sk-ant-api03-made-up" };

async function handbook(
  rehearsal?: Rehearsal,
  documents: Record<string, string> = { "refunds.md": "# Refunds\n\nThirty days.\n" },
) {
  const llm = rehearsal
    ? `llm: { provider: { backend: anthropic, anthropic: { baseUrl: "${rehearsal.url}" } }, limits: { patience: 0s } }\n`
    : "";
  const machine = await scratchMachine(`${llm}ingest: { sources: { handbook: { path: handbook } } }\n`);
  await mkdir(machine.folder.join("project", "handbook"));
  for (const [name, words] of Object.entries(documents)) {
    await writeFile(machine.folder.join("project", "handbook", name), words);
  }
  await machine.trust();
  return machine;
}

/** Selects every document. One reading agent writes one page; the others write nothing. */
async function answer(request: ModelRequest): Promise<Reply> {
  if (request.lastUserText.startsWith("Sort")) {
    const ids = [...request.lastUserText.matchAll(/ id="(p\d+)"/g)].map(([, id]) => id!);
    const rule = object({ pages: ids.map((id) => ({ id, lane: "full", reason: "Dense.", suspicious: null })) });
    return typeof rule.answer === "function" ? rule.answer(request) : rule.answer;
  }
  const turn = request.messages.filter(({ role }) => role === "assistant").length;
  if (!request.system.includes("You read documents closely") || turn > 1) return text("Done.");
  if (turn === 0) return toolUse("record_verification", { summary: "Read.", verified: [], unverified: [] });
  const citation = /citation="([^"]+)"/.exec(JSON.stringify(request.messages).replaceAll('\\"', '"'))![1];
  return toolUse("wiki_write", {
    key: "refunds",
    title: "Refunds",
    summary: "Thirty days.",
    tags: [],
    refs: [],
    body: `Refunds take thirty days. [^${citation}]`,
  });
}

describe("tandem context ingest", () => {
  test("prints progress lines and a summary; a second run calls no model", async () => {
    await using rehearsal = await startRehearsal([always(answer)]);
    await using machine = await handbook(rehearsal);
    const limited = await machine.run(["context", "ingest", "--max-requests", "2"], { env });
    expect(limited.code).toBe(2);
    expect(limited.stdout).toMatch(/would make about \d+ model requests for .*; its limit is \$25\.00 and 2 requests/);
    expect(limited.stdout).toContain("--yes");
    expect(rehearsal.modelRequests).toHaveLength(0);
    const stopped = await machine.run(["context", "ingest", "--max-requests", "1", "--yes"], { env });
    expect(stopped.stdout).toContain("The budget of this job, 1 model request, is used up.");
    const first = await machine.run(["context", "ingest"], { env });
    expect(first.stdout + first.stderr).toContain("done ingest");
    expect(first.code).toBe(0);
    expect(first.stderr).toContain("ingest: fetch: 1 added\n");
    expect(first.stderr).toContain("ingest: units: 1 unit, 1 page\n");
    expect(first.stdout).toMatch(/handbook +1 new/);
    expect(first.stdout).toMatch(/written +1 new page\n/);
    // One more was stored by the stopped run.
    expect(first.stdout).toMatch(/spent +4 requests/);
    const [, id = ""] = /tandem context proposals show (prop_\w+)/.exec(first.stdout) ?? [];
    const asked = rehearsal.modelRequests.length;

    const page = machine.folder.join("project", "context", "wiki", "refunds.md");
    expect(existsSync(page), "nothing is written before it is accepted").toBe(false);
    const accepted = await machine.run(["context", "proposals", "accept", id], { env });
    expect(accepted.code, accepted.stderr).toBe(0);
    expect(existsSync(page)).toBe(true);

    const again = await machine.run(["context", "ingest", "handbook", "--json"], { env });
    expect(again.code).toBe(0);
    expect(JSON.parse(again.stdout)).toMatchObject({
      state: "done",
      sources: [{ name: "handbook", unchanged: 1 }],
      proposals: [],
      spent: { requests: 0 },
    });
    expect(rehearsal.modelRequests).toHaveLength(asked);
  });

  test("reads a text and a file like any other source", async () => {
    await using rehearsal = await startRehearsal([always(answer)]);
    await using machine = await handbook(rehearsal);
    const piped = await machine.run(["context", "ingest", "--text", "-", "--json"], {
      env,
      stdin: "# Pasted\n\nThirty days.",
    });
    expect(JSON.parse(piped.stdout)).toMatchObject({
      state: "done",
      sources: [{ name: "pasted", added: 1 }],
      pages: { added: 1 },
    });
    const file = await machine.run(["context", "ingest", "--file", "handbook/refunds.md", "--json"], { env });
    expect(JSON.parse(file.stdout)).toMatchObject({ state: "done", sources: [{ name: "files", added: 1 }] });
    await writeFile(machine.folder.join("project", "picture.png"), "PNG");
    const picture = await machine.run(["context", "ingest", "--file", "picture.png"], { env });
    expect(picture.code).toBe(1);
    expect(picture.stdout).toContain("picture.png is of a kind that is not read.");
  });

  test("lists skipped and failed documents and exits with an error", async () => {
    await using rehearsal = await startRehearsal([
      always(when(({ system }) => system.includes("You read documents closely"), serverError())),
      always(answer),
    ]);
    await using machine = await handbook(rehearsal, { "refunds.md": "# R\n\nThirty days.\n", "broken.pdf": "no" });
    const { code, stdout } = await machine.run(["context", "ingest", "--json"], { env });
    expect(code).not.toBe(0);
    const told = JSON.parse(stdout);
    expect(told).toMatchObject({
      state: "partly",
      proposals: [],
      units: { failed: [{ unit: "handbook/refunds.md" }] },
    });
    expect(told.skipped.map(({ stage }: { stage: string }) => stage)).toEqual(["evidence", "units"]);
  });

  test("--dry-run shows the plan and calls no model; without a model it says so", async () => {
    await using rehearsal = await startRehearsal([]);
    await using machine = await handbook(rehearsal);
    const planned = await machine.run(["context", "ingest", "--dry-run"], { env });
    expect(planned.code, planned.stderr).toBe(0);
    expect(planned.stdout).toMatch(/handbook +1 new/);
    expect(planned.stdout).toContain("about $");
    expect(planned.stdout).toContain("Nothing was changed.");
    expect(rehearsal.modelRequests).toEqual([]);
    await using bare = await handbook();
    expect((await bare.run(["context", "ingest", "--dry-run"])).stdout).toContain("no model is set up");
    const read = await bare.run(["context", "ingest"]);
    expect(read.code).toBe(1);
    expect(read.stdout).toContain("No model is set up");
  });

  test("Ctrl-C stops it, and the next run resumes", async () => {
    let interrupt: (() => void) | undefined;
    await using rehearsal = await startRehearsal([
      when(
        ({ system }) => system.includes("You read documents closely"),
        async () => {
          interrupt?.();
          return text("Nobody hears this.", { pace: { firstByteMs: 2_000 } });
        },
      ),
      always(answer),
    ]);
    await using machine = await handbook(rehearsal);
    const reading = machine.open(["context", "ingest"], { env });
    interrupt = () => void reading.stop();
    expect((await reading.outcome).code).toBe(130);
    const next = await machine.run(["context", "ingest", "--json"], { env });
    expect(JSON.parse(next.stdout)).toMatchObject({ state: "done", pages: { added: 1 } });
    expect(rehearsal.modelRequests.filter(({ lastUserText }) => lastUserText.startsWith("Sort"))).toHaveLength(1);
  });

  test("an unknown source and a missing source list give the next step", async () => {
    await using machine = await handbook();
    const wrong = await machine.run(["context", "ingest", "handbok"]);
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain("Did you mean handbook?");
    await machine.configure("{}\n");
    const none = await machine.run(["context", "ingest"]);
    expect(none.code).toBe(2);
    expect(none.stderr).toContain("has no sources");
  });
});
