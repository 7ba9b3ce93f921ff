import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { query } from "@anthropic-ai/claude-agent-sdk";
import { expect, test } from "vitest";
import type { ProxyAccess } from "@tandem/rehearsal";
import { madeUpLogin, replayScript, startRecording, startRehearsal, text, toolUse, when } from "@tandem/rehearsal";

/** Claude Code reads a file and reports its content: two model requests with a fake login. */
async function readANote(proxy: ProxyAccess): Promise<{ result: string; cwd: string }> {
  const root = await mkdtemp(join(tmpdir(), "claude-"));
  try {
    const [home, config, cwd] = [join(root, "home"), join(root, "config"), join(root, "project")];
    for (const folder of [home, config, cwd]) await mkdir(folder);
    await madeUpLogin(config);
    await writeFile(join(cwd, "note.txt"), "The door is blue.");
    const run = query({
      prompt: "What does the note say?",
      options: {
        cwd,
        env: {
          PATH: process.env["PATH"] ?? "",
          HOME: home,
          CLAUDE_CONFIG_DIR: config,
          TMPDIR: root,
          CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1",
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
          CLAUDE_CODE_MAX_RETRIES: "0",
          DISABLE_AUTOUPDATER: "1",
          ...proxy.variables,
        },
        model: "claude-sonnet-5-5",
        systemPrompt: "You are terse.",
        settingSources: [],
        tools: ["Read"],
        allowedTools: ["Read"],
        strictMcpConfig: true,
        persistSession: false,
        permissionMode: "dontAsk",
        maxTurns: 3,
      },
    });
    let result = "";
    for await (const message of run) {
      if (message.type === "result") result = message.subtype === "success" ? message.result : message.subtype;
    }
    return { result, cwd };
  } finally {
    await rm(root, { recursive: true, force: true, maxRetries: 5 });
  }
}

test("a run recorded through the proxy can be replayed in another folder", async () => {
  const folder = await mkdtemp(join(tmpdir(), "recording-"));
  const file = join(folder, "run.jsonl");
  try {
    let recordedIn = "";
    {
      await using upstream = await startRehearsal([
        when(
          () => true,
          (request) => {
            const cwd = /working directory: (\S+)/.exec(JSON.stringify(request.body))?.[1]?.replace(/\\n.*/, "") ?? "";
            return toolUse("Read", { file_path: join(cwd, "note.txt") });
          },
        ),
        when(
          ({ toolResults }) => toolResults[0]?.text.includes("The door is blue.") ?? false,
          text("The door is blue."),
        ),
      ]);
      await using recording = await startRecording({ upstream: upstream.url, file, proxy: true });
      const first = await readANote(recording.proxy);
      expect(first.result).toBe("The door is blue.");
      expect(recording.count).toBe(2);
      expect(upstream.misses).toEqual([]);
      recordedIn = first.cwd;
    }
    const written = await readFile(file, "utf8");
    expect(written).not.toContain("made-up-for-rehearsal");
    expect(written).not.toContain("rehearsal@example.com");

    await using rehearsal = await startRehearsal(replayScript(file), { proxy: true });
    const second = await readANote(rehearsal.proxy);
    expect(rehearsal.misses.map(({ message }) => message)).toEqual([]);
    expect(second).toMatchObject({ result: "The door is blue." });
    expect(second.cwd).not.toBe(recordedIn);
    expect(rehearsal.modelRequests[1]?.toolResults[0]?.text).toContain("The door is blue.");
    rehearsal.assertDone();
  } finally {
    await rm(folder, { recursive: true });
  }
});
