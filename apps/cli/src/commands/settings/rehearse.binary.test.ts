import { startRehearsal, text } from "@tandem/rehearsal";
import { once } from "node:events";
import { readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { PipedCommand } from "../../testing/open-command.ts";
import { scratchMachine } from "../../testing/run-tandem.ts";

/** Reads the address from the server's first line. */
async function addressOf(command: PipedCommand): Promise<string> {
  const [line] = (await once(command.stdout, "data")) as [Buffer];
  return (JSON.parse(String(line)) as { url: string }).url;
}

const question = { model: "claude-sonnet-5-5", max_tokens: 10, messages: [{ role: "user", content: "Name a river" }] };

async function askModel(url: string): Promise<string> {
  const response = await fetch(`${url}/v1/messages`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-api-key": "sk-ant-api03-secret",
      "anthropic-version": "2023-06-01",
    },
    body: JSON.stringify(question),
  });
  return response.text();
}

describe("tandem rehearse", () => {
  test("serve answers by its script until Ctrl-C", async () => {
    await using machine = await scratchMachine();
    await writeFile(`${machine.project}/script.json`, JSON.stringify(["The Rhine.", "Never asked."]));
    const serving = machine.open(["rehearse", "serve", "script.json", "--json"]);
    const url = await addressOf(serving);
    expect(await askModel(url)).toContain("The Rhine.");
    const { code, stdout } = await serving.stop();
    expect(code).toBe(130);
    expect(stdout).toContain("Never asked.");
  });

  test("replays a recording, which does not contain the key", async () => {
    await using upstream = await startRehearsal([text("The Rhine.")]);
    await using machine = await scratchMachine();
    const recorder = machine.open(["rehearse", "record", "run.jsonl", "--upstream", upstream.url, "--json"]);
    expect(await askModel(await addressOf(recorder))).toContain("The Rhine.");
    expect((await recorder.stop()).stdout).toContain('{"recorded":1}');
    expect(await readFile(`${machine.project}/run.jsonl`, "utf8")).not.toContain("sk-ant-api03-secret");

    const player = machine.open(["rehearse", "replay", "run.jsonl", "--json"]);
    expect(await askModel(await addressOf(player))).toContain("The Rhine.");
    expect((await player.stop()).stdout).toContain('{"misses":[],"unused":[]}');
    expect(upstream.modelRequests).toHaveLength(1);

    const unchecked = await machine.run(["rehearse", "check", "run.jsonl"]);
    expect(unchecked.stderr).toContain("typescript is not installed for");
    await symlink(join(import.meta.dirname, "../../../../../node_modules"), `${machine.project}/node_modules`);
    const checked = await machine.run(["rehearse", "check", "run.jsonl"]);
    expect(checked).toMatchObject({ code: 0, stdout: expect.stringContaining("All exchanges (1) match the types") });
  });

  test.each([
    [["serve", "missing.ts"], "missing.ts"],
    [["serve", "script.json", "--port", "high"], "0 to 65535"],
    [["replay", "missing.jsonl"], "missing.jsonl"],
    [["record", "script.json"], "script.json"],
  ])("%j is one clear error", async (args, text) => {
    await using machine = await scratchMachine();
    await writeFile(`${machine.project}/script.json`, "[]");
    const { code, stdout, stderr } = await machine.run(["rehearse", ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(text);
    expect(stderr).not.toContain("    at ");
  });

  test("names a used port", async () => {
    await using other = await startRehearsal([]);
    await using machine = await scratchMachine();
    await writeFile(`${machine.project}/script.json`, "[]");
    const { port } = new URL(other.url);
    const { code, stderr } = await machine.run(["rehearse", "serve", "script.json", "--port", port]);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(`Port ${port} is taken`) });
  });
});
