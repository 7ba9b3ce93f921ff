import { always, object, reply, slowly, text, toolUse, type ModelRequest, type Reply } from "@tandem/rehearsal";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { isRunning } from "@tandem/tandem/testing";
import { sessionMachine, type UpProcess } from "../../testing/session-machine.ts";

/** A model that repeats its input and its tool results. */
function parrot(request: ModelRequest): Reply {
  const { lastUserText, toolResults } = request;
  if (toolResults.length > 0) return text(`The tool said: ${toolResults.map((result) => result.text).join(" and ")}`);
  if (lastUserText.endsWith("touch")) {
    return reply([
      text("I touch a file."),
      toolUse("Bash", { command: "touch made; echo touched", description: "Touch" }),
    ]);
  }
  if (lastUserText.endsWith("delegate")) {
    const call = (name: string) =>
      toolUse("Agent", { description: name, prompt: `I am ${name}`, subagent_type: name, run_in_background: false });
    return reply([call("Explore"), call("reviewer")]);
  }
  // A subagent. Its price shows in the cost of the turn.
  if (lastUserText.includes("I am ")) return text(`You said: ${lastUserText}`, { usage: { output_tokens: 20_000 } });
  if (lastUserText.endsWith("slow")) return slowly(text("word ".repeat(400)), { tokenMs: 50 });
  const turns = request.messages.filter(({ role }) => role === "assistant").length;
  return text(`You said: ${lastUserText} (after ${turns})`);
}

interface JsonResult {
  session_id: string;
  result: string;
  stop_reason: string;
  list_cost_usd: number;
}
const parse = (stdout: string) => JSON.parse(stdout) as JsonResult;

describe.each(["in its own process", "on the server that is up"])("tandem run, %s", (place) => {
  const isOnServer = place.startsWith("on");
  let machine: Awaited<ReturnType<typeof sessionMachine>>;
  let server: UpProcess | undefined;
  /** The tests share one session and run in order. */
  let session: string;
  beforeAll(async () => {
    // Processes that are started ahead would be counted.
    machine = await sessionMachine(parrot, "sessions: { spares: 0 }\n");
    if (isOnServer) server = await machine.upProcess();
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    await machine[Symbol.asyncDispose]();
  });

  test("answers, and resumes a session and reports the cost", async () => {
    const first = await machine.run(["run", "one", "--output-format", "json"]);
    const { session_id: id, ...result } = parse(first.stdout);
    session = id;
    expect(result).toMatchObject({ result: "You said: one (after 0)", stop_reason: "end_turn" });
    expect(result.list_cost_usd).toBeGreaterThan(0);
    const second = await machine.run(["run", "--resume", session, "--json"], { stdin: "two" });
    expect(parse(second.stdout)).toMatchObject({ session_id: session, result: "You said: two (after 1)" });
    // The reported cost is that of one turn.
    expect(parse(second.stdout).list_cost_usd).toBeLessThan(result.list_cost_usd * 1.9);
  });

  test("Ctrl-C ends the turn, not the session, which continues with an approval", async () => {
    const running = machine.open(["run", "--resume", "last", "slow", "--output-format", "stream-json"]);
    running.stdin.end();
    await machine.rehearsal.waitForModelRequest(({ lastUserText }) => lastUserText.endsWith("slow"));
    const { code, stdout } = await running.stop();
    expect(code).toBe(130);
    const types = stdout
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { type: string }).type);
    expect(types).toContain("user.interrupt");
    expect(types.at(-1)).toBe("session.status_idle");
    expect(await readdir(`${machine.variables.TANDEM_HOME}/processes`)).toHaveLength(isOnServer ? 1 : 0);

    const denied = await machine.run(["run", "--resume", "last", "touch"]);
    expect(denied.code).toBe(7);
    expect(denied.stdout).toContain("no terminal to ask for approval on");
    expect(denied.stderr).toContain("● Bash  touch made; echo touched");
    expect(denied.stderr).toContain("--allow Bash");
    expect(await readdir(machine.project)).not.toContain("made");
    const allowed = await machine.run(["run", "--resume", "last", "--allow", "bash", "touch"]);
    expect(allowed).toMatchObject({ code: 0, stdout: "The tool said: touched\n" });
    expect(await readdir(machine.project)).toContain("made");
  });

  test.runIf(isOnServer)("answers a pending approval before it sends the message", async () => {
    const { url, token } = server!;
    await rm(`${machine.project}/made`);
    const headers = { "x-api-key": token, "content-type": "application/json" };
    const events = [{ type: "user.message", content: [{ type: "text", text: "touch" }] }];
    await fetch(`${url}/v1/sessions/${session}/events`, { method: "POST", headers, body: JSON.stringify({ events }) });
    const waits = async () => {
      // The checkpoint of the turn may be taken after the question.
      const answer = await fetch(`${url}/v1/sessions/${session}/events?order=desc&limit=3`, { headers });
      const { data } = (await answer.json()) as { data: { type: string; stop_reason?: { type: string } }[] };
      return data.find(({ type }) => type.startsWith("session.status_"))?.stop_reason?.type;
    };
    await expect.poll(waits).toBe("requires_action");
    const { code, stdout } = await machine.run(["run", "--resume", session, "--allow", "bash", "and now?"]);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^You said: and now\? \(after \d+\)\n$/),
    });
    expect(await readdir(machine.project)).toContain("made");
  });

  test.skipIf(isOnServer || process.platform !== "linux")("kill -9 ends Claude Code with it, at once", async () => {
    const running = machine.start(["run", "very slow"]);
    running.stdin?.end();
    await machine.rehearsal.waitForModelRequest(({ lastUserText }) => lastUserText.endsWith("very slow"));
    const [entry = ""] = await readdir(`${machine.variables.TANDEM_HOME}/processes`);
    const claude = Number.parseInt(entry, 10);
    expect(isRunning(claude)).toBe(true);
    running.kill("SIGKILL");
    await expect.poll(() => isRunning(claude), { timeout: 5_000 * inject("slowness") }).toBe(false);
    // Removes the entry that the killed command has left.
    await machine.run(["doctor"]);
  });

  test.runIf(isOnServer)("does not touch a session held by another process", async () => {
    // As if the holder ran on another machine with the same database.
    await rm(`${machine.variables.TANDEM_HOME}/server.json`);
    const { code, stderr } = await machine.run(["run", "--resume", session, "again"]);
    expect(code).toBe(1);
    expect(stderr).toContain(`is held by tandem up on`);
    expect(stderr).toContain(`(pid ${server!.child.pid})`);
  });
});

describe("tandem run", () => {
  let machine: Awaited<ReturnType<typeof sessionMachine>>;
  beforeAll(async () => {
    machine = await sessionMachine(parrot);
  });
  afterAll(() => machine[Symbol.asyncDispose]());

  test("rejects invalid options in one sentence, before any model request", async () => {
    const refusals: [args: string[], message: string][] = [
      [["--resume", "last", "hi"], "There are no sessions yet."],
      [["--resume", "sesn_none", "hi"], "sesn_none"],
      [["--resume", "x", "--agent", "opus", "hi"], "--agent cannot be given together with --resume"],
      [["--agent", "nobody", "hi"], "There is no agent nobody."],
      [["--model", "gpt-7", "hi"], '"gpt-7" is not known'],
      [["--cwd", "nowhere", "hi"], "There is no folder"],
      [["--max-turns", "0", "hi"], "--max-turns"],
      [["--json-schema", "{", "hi"], "not valid JSON"],
      [["--json-schema", '{"type":"string"}', "hi"], "object at its root"],
      [[], 'tandem run "…"'],
    ];
    for (const [args, message] of refusals) {
      const outcome = await machine.run(["run", ...args]);
      expect(outcome, args.join(" ")).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(message) });
    }
    expect(machine.rehearsal.modelRequests).toEqual([]);
  });

  test("uses the named folder, agent and model", async () => {
    await machine.run(["agents", "add", "--name", "writer", "--system", "You are a poet.", "--allow", "bash"]);
    const other = machine.folder.join("other");
    await mkdir(other);
    const { code, stdout } = await machine.run(["run", "-a", "writer", "-m", "haiku", "--cwd", other, "touch"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "The tool said: touched\n" });
    expect(await readdir(other)).toEqual(["made"]);
    const request = machine.rehearsal.modelRequests.at(-1);
    expect(request!.model).toContain("haiku");
    expect(request!.system).toContain("You are a poet.");
  });

  test("calls Claude Code's own agents and those of a trusted folder", async () => {
    const folder = machine.folder.join("project", ".claude", "agents");
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "reviewer.md"), "---\nname: reviewer\ndescription: Reviews.\n---\nYou review.\n");
    await machine.run(["trust", "--folder"]);
    const { code, stdout } = await machine.run(["run", "delegate", "--output-format", "json"]);
    const { result, list_cost_usd: cost } = parse(stdout);
    expect({ code, result }).toMatchObject({ code: 0, result: expect.stringContaining("You said: I am Explore") });
    expect(result).toContain("You said: I am reviewer");
    expect(cost).toBeGreaterThan(0.3);
  });

  test("returns an object that matches the schema", async () => {
    machine.rehearsal.use([always(object({ name: "Ada", born: 1815 }))]);
    const schema = {
      type: "object",
      properties: { name: { type: "string" }, born: { type: "integer" } },
      required: ["name", "born"],
    };
    const inline = await machine.run(["run", "Who?", "--json-schema", JSON.stringify(schema)]);
    expect(inline.code).toBe(0);
    expect(JSON.parse(inline.stdout)).toEqual({ name: "Ada", born: 1815 });
    await writeFile(machine.folder.join("project", "schema.json"), JSON.stringify(schema));
    const { stdout } = await machine.run(["run", "Who?", "--json-schema", "schema.json", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ output: { name: "Ada", born: 1815 } });
  });

  test("without a login, names the next step", async () => {
    await machine.configure("");
    await machine.trust();
    const { code, stdout, stderr } = await machine.run(["run", "hi"]);
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(stderr).toContain("tandem login");
  });
});
