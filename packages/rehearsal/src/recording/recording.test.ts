import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import { describe, expect, test } from "vitest";
import type { Script } from "../index.ts";
import {
  loadScript,
  raw,
  rateLimited,
  replayScript,
  slowly,
  startRecording,
  startRehearsal,
  text,
  toolUse,
} from "../index.ts";

async function scratchFolder() {
  const path = await mkdtemp(join(tmpdir(), "recording-"));
  return { path, file: join(path, "run.jsonl"), [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

const apiKey = "sk-ant-api03-made-up-key-that-must-not-be-written";

function clientOf(url: string, defaultHeaders: Record<string, string> = {}) {
  return new Anthropic({ baseURL: url, apiKey, maxRetries: 0, defaultHeaders });
}

function ask(prompt: string, more: { system?: string } = {}) {
  return {
    model: "claude-sonnet-5-5",
    max_tokens: 100,
    messages: [{ role: "user" as const, content: prompt }],
    ...more,
  };
}

/** Runs `act` against a recording of a rehearsal with this script. */
async function record(file: string, script: Script, act: (url: string) => Promise<void>) {
  await using upstream = await startRehearsal(script);
  await using recording = await startRecording({ upstream: upstream.url, file });
  await act(recording.url);
  return upstream.modelRequests;
}

function textOf(message: Anthropic.Message): string {
  return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

describe("a recording", () => {
  test("forwards requests and can be replayed, streamed and not, with errors", async () => {
    await using folder = await scratchFolder();
    const act = async (url: string) => {
      const client = clientOf(url);
      const plain = await client.messages.create(ask("one"));
      const streamed = await client.messages.stream(ask("two")).finalMessage();
      const failed = await client.messages.create(ask("three")).catch((error: unknown) => error);
      expect(textOf(plain)).toBe("first");
      expect(textOf(streamed)).toBe("second answer");
      expect(failed).toMatchObject({ status: 429 });
      expect((failed as InstanceType<typeof Anthropic.APIError>).headers?.get("retry-after")).toBe("7");
    };
    const arrived = await record(
      folder.file,
      [text("first"), text("second answer"), rateLimited({ retryAfterSeconds: 7 })],
      act,
    );
    expect(arrived[0]?.headers.authorization).toBe(`Bearer ${apiKey}`);
    await using rehearsal = await startRehearsal(await loadScript(folder.file));
    await act(rehearsal.url);
    rehearsal.assertDone();
  });

  test("contains no credential, is private, and never overwrites a file", async () => {
    await using folder = await scratchFolder();
    const pasted = "sk-ant-api03-pasted-into-the-prompt";
    const gateway = "opaque-cookie-value-1234567890";
    // The echo is split, like tokens.
    const pieces = [
      "You said sk-a",
      "nt-api03-pas",
      "ted-into-the-prompt",
      ` and ${gateway.slice(0, 9)}`,
      gateway.slice(9),
    ];
    const events = [
      {
        type: "message_start",
        message: {
          id: "msg_1",
          type: "message",
          role: "assistant",
          model: "m",
          content: [],
          usage: { input_tokens: 1, output_tokens: 1 },
        },
      },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      ...pieces.map((piece) => ({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: piece } })),
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 9 } },
      { type: "message_stop" },
    ];
    const body = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
    const act = async (url: string) => {
      const message = await clientOf(url, { cookie: `session=${gateway}`, "x-new-credential": "unheard-of" })
        .messages.stream(ask(`My key is ${pasted}.`))
        .finalMessage();
      expect(textOf(message)).toBe(`You said ${pasted} and ${gateway}`);
      const refresh = { refresh_token: "a-plain-refresh-token" };
      const answer = await fetch(`${url}/v1/oauth/token?code=abc`, { method: "POST", body: JSON.stringify(refresh) });
      expect(await answer.text()).toContain("access_token");
    };
    await record(folder.file, [raw(200, { "content-type": "text/event-stream" }, body)], act);
    const written = await readFile(folder.file, "utf8");
    for (const secret of [
      apiKey,
      pasted,
      gateway,
      "unheard-of",
      "a-plain-refresh-token",
      "made-up-for-rehearsal",
      "code=abc",
      "ted-into-the-prompt",
    ]) {
      expect(written).not.toContain(secret);
    }
    expect(written).toContain("You said [redacted] and [redacted]");
    expect((await stat(folder.file)).mode & 0o777).toBe(0o600);
    await expect(startRecording({ file: folder.file })).rejects.toMatchObject({ code: "recording_exists" });
    expect(await readFile(folder.file, "utf8")).toBe(written);
  });

  test("keeps the part before the caller closed the connection", async () => {
    await using folder = await scratchFolder();
    await record(folder.file, [slowly(text("a long story ".repeat(500)), { tokenMs: 5 })], async (url) => {
      const stream = clientOf(url).messages.stream(ask("go"));
      stream.once("text", () => stream.abort());
      await expect(stream.finalMessage()).rejects.toThrow(/abort/i);
    });
    await using rehearsal = await startRehearsal(replayScript(folder.file));
    const stream = clientOf(rehearsal.url).messages.stream(ask("go"));
    stream.once("text", () => stream.abort());
    await expect(stream.finalMessage()).rejects.toThrow(/abort/i);
    await rehearsal.waitForRequest((request) => request.closedEarly);
  });

  test("leaves no file behind if it cannot start", async () => {
    await using folder = await scratchFolder();
    await using rehearsal = await startRehearsal([]);
    const port = Number(new URL(rehearsal.url).port);
    await expect(startRecording({ file: folder.file, port })).rejects.toMatchObject({ code: "port_taken" });
    await expect(stat(folder.file)).rejects.toThrow(/ENOENT/);
  });

  test("reports an unreachable upstream", async () => {
    await using folder = await scratchFolder();
    const gone = await startRehearsal([]);
    await gone.close();
    await using recording = await startRecording({ upstream: gone.url, file: folder.file });
    await expect(clientOf(recording.url).messages.create(ask("x"))).rejects.toThrow(
      /502.*could not reach the upstream/s,
    );
  });
});

describe("a replay", () => {
  test("ignores volatile parts", async () => {
    await using folder = await scratchFolder();
    const prompt = (cwd: string, date: string, id: string) =>
      `<system-reminder>Working directory: ${cwd}\nToday is ${date}.</system-reminder>Look into ${cwd}/src on ${date}, run ${id}.`;
    const before = prompt("/home/ada/one", "2026-01-02", "0f0e0d0c-0000-4000-8000-000000000001");
    const after = prompt("/home/b/two", "2027-11-12T10:11:12Z", "11111111-2222-4333-8444-555555555555");
    await record(folder.file, [toolUse("read", { path: "/home/ada/one/src/a.ts" })], async (url) => {
      await clientOf(url)
        .messages.stream(ask(before, { system: "x-anthropic-billing-header: cc_version=1" }))
        .finalMessage();
    });
    await using rehearsal = await startRehearsal(replayScript(folder.file));
    const message = await clientOf(rehearsal.url)
      .messages.stream(ask(after, { system: "x-anthropic-billing-header: cc_version=2" }))
      .finalMessage();
    // Paths in the answer follow the working folder.
    expect(message.content).toMatchObject([
      { type: "tool_use", name: "read", input: { path: "/home/b/two/src/a.ts" } },
    ]);
    rehearsal.assertDone();
  });

  test("explains a miss by its differences from the nearest exchange", async () => {
    await using folder = await scratchFolder();
    await record(folder.file, [text("a"), text("b")], async (url) => {
      await clientOf(url).messages.create(ask("Count the sheep in the north field.", { system: "Be brief." }));
      await clientOf(url).messages.create(ask("Something else entirely.", { system: "Be long." }));
    });
    await using rehearsal = await startRehearsal(replayScript(folder.file));
    const miss = clientOf(rehearsal.url).messages.create(
      ask("Count the goats in the north field.", { system: "Be brief." }),
    );
    await expect(miss).rejects.toThrow(/400/);
    expect(rehearsal.misses[0]?.message).toMatch(
      /nearest is entry 1 .*\n {2}body\.messages\[0\]\.content: recorded "Count the sheep.*, arrived "Count the goats/,
    );
    expect(rehearsal.misses[0]?.message).not.toContain("system");
    expect(() => rehearsal.assertDone()).toThrow(/Never asked for: entry 2: recorded exchange 2/);
  });

  test("gives each answer once, or repeatedly", async () => {
    await using folder = await scratchFolder();
    await record(folder.file, [text("a")], async (url) => void (await clientOf(url).messages.create(ask("x"))));
    await using rehearsal = await startRehearsal(replayScript(folder.file, { repeat: true }));
    const client = clientOf(rehearsal.url);
    await client.messages.create(ask("x"));
    await client.messages.create(ask("x"));
    rehearsal.use(replayScript(folder.file));
    await client.messages.create(ask("x"));
    await expect(client.messages.create(ask("x"))).rejects.toThrow(/used up/);
  });

  test("rejects a file that is not a recording, naming the line", async () => {
    await using folder = await scratchFolder();
    expect(() => replayScript(join(folder.path, "none.jsonl"))).toThrow(/none\.jsonl cannot be read/);
    await writeFile(folder.file, '{"format":"rehearsal","version":2,"recordedAt":""}\n');
    expect(() => replayScript(folder.file)).toThrow(/known version/);
    await writeFile(folder.file, '{"format":"rehearsal","version":1,"recordedAt":""}\n{"type":"exchange"}\n');
    expect(() => replayScript(folder.file)).toThrow(/line 2/);
  });
});

describe("a script file", () => {
  const say = async (script: Script) => {
    await using rehearsal = await startRehearsal(script);
    return textOf(await clientOf(rehearsal.url).messages.create(ask("x")));
  };

  test("may be a JSON list", async () => {
    await using folder = await scratchFolder();
    const path = join(folder.path, "script.json");
    await writeFile(path, JSON.stringify(["plain words", { type: "error", status: 529 }]));
    expect(await say(await loadScript(path))).toBe("plain words");
    await writeFile(path, JSON.stringify([{ type: "message", content: [{ type: "txt" }] }]));
    await expect(loadScript(path)).rejects.toMatchObject({ code: "script_unreadable", message: /script\.json/ });
  });

  test("may be a module that exports a list or a function", async () => {
    await using folder = await scratchFolder();
    const [list, fn, none] = ["list.mjs", "fn.ts", "none.mjs"].map((name) => join(folder.path, name)) as [
      string,
      string,
      string,
    ];
    await writeFile(
      list,
      'export const script = [{ type: "message", content: [{ type: "text", text: "listed" }], options: {} }];',
    );
    await writeFile(
      fn,
      'const say = (text: string) => ({ type: "message", content: [{ type: "text", text }], options: {} });\nexport default () => say("computed");',
    );
    await writeFile(none, "export const other = 1;");
    expect(await say(await loadScript(list))).toBe("listed");
    expect(await say(await loadScript(fn))).toBe("computed");
    await expect(loadScript(none)).rejects.toMatchObject({ code: "script_unreadable" });
  });
});
