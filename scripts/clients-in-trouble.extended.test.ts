import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TandemClient, type StdioMethod } from "@tandem/client/stdio";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

// Rare or broken behaviour of Tandem, produced by a fake one.

/**
 * Answers requests by their method: `die` breaks off within a line, `kill` ends it by a signal, `hang` and its cancellation are
 * never answered.
 */
const MADE_UP = `
import { createInterface } from "node:readline";
const say = (line, then) => process.stdout.write(JSON.stringify(line) + "\\n", then);
const at = (stream, cursor, event) => say({ stream, cursor: String(cursor), event });
let stream;
say({ hello: { protocol: 1, product: "tandem", version: String(process.pid) } });
createInterface({ input: process.stdin }).on("line", (text) => {
  const { id, method, params } = JSON.parse(text);
  if (method === "die") return process.stdout.write('{"id":' + id + ',"resu', () => process.exit(9));
  if (method === "kill") return process.kill(process.pid, "SIGKILL");
  if (method === "hang" || (method === "cancel" && params.id !== stream)) return;
  if (method === "sessions.events.stream") stream = id;
  say({ id, result: method === "sessions.events.stream" ? { stream: id } : {} });
  const [event] = params.events ?? [];
  if (event?.type === "user.message") {
    at(stream, 1, { type: "agent.custom_tool_use", id: "sevt_1", name: "ask_user_question", input: { questions: [] } });
    at(stream, 2, { type: "session.status_idle", id: "sevt_2", stop_reason: { type: "requires_action", event_ids: ["sevt_1"] } });
  }
  if (event?.type === "user.custom_tool_result") {
    at(stream, 3, { id: "sevt_3", ...event });
    at(stream, 4, { type: "session.status_idle", id: "sevt_4", stop_reason: { type: "end_turn" } });
  }
});
`;

let folder: string;
let command: string[];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tandem-clients-"));
  command = [process.execPath, join(folder, "made-up.mjs")];
  await writeFile(command[1]!, MADE_UP);
});
afterAll(() => rm(folder, { recursive: true }));

/** A method that only the fake Tandem has. */
const fake = (method: "die" | "kill" | "hang"): "status.retrieve" => method as StdioMethod as "status.retrieve";

describe("the client for TypeScript", () => {
  test("treats a truncated line as the end, and its host survives", async () => {
    await using client = await TandemClient.start({ command });
    await expect(client.call(fake("die"))).rejects.toMatchObject({ type: "gone" });
  });

  test("closes at once if Tandem was killed", async () => {
    const client = await TandemClient.start({ command });
    await expect(client.call(fake("kill"))).rejects.toMatchObject({ type: "gone" });
    // Not even a zombie: its exit was collected.
    await expect.poll(() => existsSync(`/proc/${client.hello.version}`)).toBe(false);
    await client.close();
  });

  test("an abort signal works even if Tandem does not confirm the cancellation", async () => {
    await using client = await TandemClient.start({ command });
    await expect(client.call(fake("hang"), {}, AbortSignal.timeout(50))).rejects.toMatchObject({ type: "cancelled" });
  });

  test("a request that cannot be written is not waited for", async () => {
    await using client = await TandemClient.start({ command });
    // @ts-expect-error A bigint is no JSON.
    await expect(client.call("agents.list", { limit: 1n })).rejects.toThrow(TypeError);
    expect(await client.call("agents.list")).toEqual({});
  });

  test("an unanswered question of the agent is declined, and the turn continues", async () => {
    await using client = await TandemClient.start({ command });
    const types: string[] = [];
    for await (const event of client.turn("sesn_1", "Hello.")) types.push(event.type);
    expect(types).toEqual([
      "agent.custom_tool_use",
      "session.status_idle",
      "user.custom_tool_result",
      "session.status_idle",
    ]);
  });
});

const hasPython = spawnSync("python3", ["-c", "import sys; sys.exit(sys.version_info < (3, 9))"]).status === 0;
const reason = hasPython ? "" : " (skipped: no python3 of version 3.9 or later)";

/** Returns the output of a Python program. */
async function python(program: string): Promise<string> {
  const child = spawn("python3", ["-W", "error", "-c", `import json, sys\nfrom tandem_client import *\n${program}`], {
    cwd: join(import.meta.dirname, "../clients/python"),
    env: { PATH: process.env["PATH"], PYTHONDONTWRITEBYTECODE: "1", COMMAND: JSON.stringify(command) },
    stdio: ["ignore", "pipe", "inherit"],
    timeout: 180_000,
  });
  let output = "";
  for await (const chunk of child.stdout.setEncoding("utf8")) output += chunk;
  return output.trim();
}
const BEGIN = 'import os\ntandem = Tandem.start(json.loads(os.environ["COMMAND"]))\n';

describe.skipIf(!hasPython)(`the client for Python${reason}`, () => {
  test("treats a truncated line as the end", async () => {
    const program = 'try:\n    tandem.call("die")\nexcept TandemError as error:\n    print(error.type)';
    expect(await python(`${BEGIN}${program}\ntandem.close()`)).toBe("gone");
  });

  test("a deadline works even if Tandem ignores the cancellation", async () => {
    const program = 'try:\n    tandem.call("hang", timeout=0.2)\nexcept TimeoutError:\n    print("late")';
    const begin = `import tandem_client\ntandem_client.CANCEL_SECONDS = 0.2\n${BEGIN}`;
    expect(await python(`${begin}${program}\ntandem.close()`)).toBe("late");
  });

  test("a request that cannot be written is not waited for", async () => {
    const program =
      'try:\n    tandem.call("agents.list", limit=object())\nexcept TypeError:\n    print(tandem._answers)';
    expect(await python(`${BEGIN}${program}\ntandem.close()`)).toBe("{}");
  });

  test("an unanswered question of the agent is declined, and the turn continues", async () => {
    const program = 'print([event["type"] for event in tandem.turn("sesn_1", "Hello.")][-2:])\ntandem.close()';
    expect(await python(`${BEGIN}${program}`)).toBe("['user.custom_tool_result', 'session.status_idle']");
  });
});
