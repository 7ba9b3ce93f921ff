import { createHash } from "node:crypto";
import { appendFile, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { SessionEvent } from "@tandem/protocol";
import { reply, text, toolUse, type Script } from "@tandem/rehearsal";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runClaude } from "../testing/run-claude.ts";
import { sessionMachine } from "../testing/session-machine.ts";

const usage = (input_tokens: number, output_tokens: number) => ({ usage: { input_tokens, output_tokens } });
const delegate = {
  description: "Review",
  prompt: "Look at it",
  subagent_type: "general-purpose",
  run_in_background: false,
};

const script: Script = [
  reply([text("I look."), toolUse("Bash", { command: "echo seen", description: "look" })], usage(100, 10)),
  reply([toolUse("Agent", delegate)], usage(110, 11)),
  reply([text("Looking."), toolUse("Bash", { command: "echo deeper", description: "look" })], usage(30, 3)),
  text("It is good.", usage(31, 4)),
  text("All is well.", usage(120, 12)),
  text("The second answer.", usage(130, 13)),
  text("The third answer.", usage(140, 14)),
  text("The fourth answer.", usage(150, 15)),
];

interface Exported {
  type: string;
  thread?: string | null;
  event?: SessionEvent;
}

describe("conversations of Claude Code", () => {
  let machine: Awaited<ReturnType<typeof sessionMachine>>;
  let claudeId: string;
  let file: string;
  let session: string;

  const run = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await machine.run(["sessions", ...args]);
    if (code !== 0) throw new Error(stderr);
    return stdout;
  };
  const importIt = async (...args: string[]) =>
    (
      JSON.parse(await run("import", "--from-claude", "--json", ...args)) as {
        imported: { session: string; outcome: string }[];
      }
    ).imported;
  const exported = async (): Promise<Exported[]> =>
    (await run("export", session))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Exported);
  const events = async () =>
    (await exported()).flatMap(({ type, thread, event }) => (type === "event" && event ? [{ thread, event }] : []));
  const ofType = async <T extends SessionEvent["type"]>(type: T) =>
    (await events()).flatMap(({ event }) => (event.type === type ? [event as Extract<SessionEvent, { type: T }>] : []));
  const sum = async () =>
    createHash("sha256")
      .update(await readFile(file))
      .digest("hex");

  beforeAll(async () => {
    machine = await sessionMachine(script);
    const { stdout } = await runClaude(
      machine,
      "--output-format",
      "json",
      "--permission-mode",
      "bypassPermissions",
      "Please look",
    );
    claudeId = (JSON.parse(stdout) as { session_id: string }).session_id;
    const projects = join(machine.variables.CLAUDE_CONFIG_DIR, "projects");
    const [project] = await readdir(projects);
    file = join(projects, project!, `${claudeId}.jsonl`);
  });
  afterAll(() => machine[Symbol.asyncDispose]());

  it("are listed with folder, title and length", async () => {
    const { conversations } = JSON.parse(await run("import", "--from-claude", "--list", "--json")) as {
      conversations: unknown[];
    };
    expect(conversations).toMatchObject([
      {
        id: claudeId,
        folder: machine.project,
        first_prompt: "Please look",
        messages: 4,
        session: null,
        of_tandem: false,
      },
    ]);
    expect(await run("import", "--from-claude")).toContain("Please look");
    expect(await run("import", "--from-claude", "--list", "--folder", "elsewhere")).toContain(
      "No matching Claude Code conversations",
    );
    expect(await run("import", "--from-claude", "--list", "--since", "2999-01-01")).toContain(
      "No matching Claude Code conversations",
    );
  });

  it("become sessions with calls, subagents and usage, and the originals stay unchanged", async () => {
    const before = await sum();
    const [imported] = await importIt(claudeId.slice(0, 8));
    session = imported!.session;
    expect(imported).toMatchObject({ outcome: "new", claude_session_id: claudeId, unreadable: 0 });
    expect(await sum()).toBe(before);
    const log = await events();
    expect(log[0]!.event).toMatchObject({
      type: "tandem.imported",
      from: "claude-code",
      claude_session_id: claudeId,
      folder: machine.project,
      usage: { input_tokens: 391, output_tokens: 40 },
    });
    expect(log.filter(({ event }) => event.type === "tandem.unknown")).toEqual([]);
    const told = log.map(({ thread, event }) => `${thread ? "  " : ""}${event.type}`);
    expect(told).toEqual([
      "tandem.imported",
      "user.message",
      "session.status_running",
      "span.model_request_start",
      "span.model_request_end",
      "agent.message",
      "agent.tool_use",
      "agent.tool_result",
      "span.model_request_start",
      "span.model_request_end",
      "agent.tool_use",
      "session.thread_created",
      "session.thread_status_running",
      "agent.thread_message_sent",
      "  agent.thread_message_received",
      "  span.model_request_start",
      "  agent.message",
      "  span.model_request_end",
      "  agent.tool_use",
      "  agent.tool_result",
      "  span.model_request_start",
      "  agent.message",
      "  span.model_request_end",
      "  agent.thread_message_sent",
      "agent.thread_message_received",
      "session.thread_status_idle",
      "agent.tool_result",
      "span.model_request_start",
      "span.model_request_end",
      "agent.message",
      "session.status_idle",
    ]);
    const shown = JSON.parse(await run("show", session, "--json")) as {
      session: { usage: unknown; metadata: unknown };
    };
    expect(shown.session).toMatchObject({
      title: "Please look",
      status: "idle",
      usage: { list_cost: { amount: "0" }, input_tokens: 0 },
      metadata: { "tandem.imported_from": `claude-code:${claudeId}` },
    });
    expect(await run("show", session)).toContain("All is well.");
  });

  it("are imported once: a second import adds only new messages", async () => {
    expect(await importIt(claudeId)).toMatchObject([{ session, outcome: "there", events: 0 }]);
    await runClaude(machine, "--resume", claudeId, "And again");
    expect(await importIt("--all")).toMatchObject([{ session, outcome: "more" }]);
    const said = (await ofType("user.message")).map(({ content }) => content[0]);
    expect(said).toMatchObject([{ text: "Please look" }, { text: "And again" }]);
    expect((await ofType("session.status_idle")).length).toBe(2);
    expect((await ofType("agent.message")).at(-1)).toMatchObject({ content: [{ text: "The second answer." }] });
  });

  it("continue from a copy: the model knows the history, and the original stays unchanged", async () => {
    const before = await sum();
    const asked = machine.rehearsal.modelRequests.length;
    const { code, stdout, stderr } = await machine.run(["run", "--resume", session, "What was it?"]);
    expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("The third answer.");
    expect(await sum()).toBe(before);
    const request = machine.rehearsal.modelRequests[asked]!;
    const messages = JSON.stringify(request.messages);
    for (const words of ["Please look", "echo seen", "All is well.", "And again", "What was it?"])
      expect(messages).toContain(words);
    expect(messages).not.toContain("[Tandem]");
    expect(await ofType("tandem.unknown")).toEqual([]);
    // Only usage after the import counts as ours.
    expect((await ofType("session.usage")).at(-1)).toMatchObject({ usage: { input_tokens: 140, output_tokens: 14 } });
  });

  it("are forked before a message: the model knows only the earlier messages", async () => {
    const asked = machine.rehearsal.modelRequests.length;
    const forked = await machine.run(["fork", session, "--at", "2", "--json"]);
    expect({ code: forked.code, stderr: forked.code === 0 ? "" : forked.stderr }).toEqual({ code: 0, stderr: "" });
    const fork = (JSON.parse(forked.stdout) as { id: string }).id;
    const { stdout } = await machine.run(["run", "--resume", fork, "Otherwise?"]);
    expect(stdout).toContain("The fourth answer.");
    const messages = JSON.stringify(machine.rehearsal.modelRequests[asked]!.messages);
    for (const words of ["Please look", "All is well.", "Otherwise?"]) expect(messages).toContain(words);
    for (const words of ["And again", "What was it?", "[Tandem]"]) expect(messages).not.toContain(words);
  });

  it("are not merged with messages that were added here", async () => {
    await appendFile(file, `${JSON.stringify(prompt("Said in Claude Code"))}\n`);
    const { code, stderr } = await machine.run(["sessions", "import", "--from-claude", claudeId]);
    expect(code).not.toBe(0);
    expect(stderr).toContain("--as-new");
    expect(await importIt(claudeId, "--as-new")).toMatchObject([{ outcome: "new" }]);
    // Deleting a session deletes no other files.
    const before = await sum();
    await run("rm", session, "--yes");
    expect(await sum()).toBe(before);
  });

  it("with broken lines, links and strange names are harmless", async () => {
    const folder = join(machine.variables.CLAUDE_CONFIG_DIR, "projects", "-other");
    await mkdir(folder);
    const other = "00000000-0000-4000-8000-000000000001";
    const lines = [
      JSON.stringify(prompt("Hello")),
      "{ broken",
      JSON.stringify({ type: "brand-new", what: 1 }),
      "{ being writ",
    ];
    await writeFile(join(folder, `${other}.jsonl`), lines.join("\n"));
    await writeFile(join(folder, "notes.jsonl"), "{}\n");
    const secret = machine.folder.join("secret.jsonl");
    await writeFile(secret, `${JSON.stringify(prompt("SECRET"))}\n`);
    await symlink(secret, join(folder, "00000000-0000-4000-8000-000000000002.jsonl"));
    const listed = await run("import", "--from-claude", "--list");
    expect(listed).toContain(other);
    expect(listed).not.toContain("SECRET");
    const [imported] = await importIt(other);
    expect(imported).toMatchObject({ outcome: "new", unreadable: 1 });
    session = imported!.session;
    expect((await ofType("tandem.unknown")).map(({ kind, message }) => [kind, message])).toEqual([
      ["line", "{ broken"],
      ["brand-new", { type: "brand-new", what: 1 }],
    ]);
    // Its folder does not exist here: it continues in the current folder and says so.
    expect(await ofType("tandem.notice")).toMatchObject([
      { level: "warning", text: expect.stringContaining(machine.project) as string },
    ]);
  });
});

let lines = 0;
const prompt = (content: string) => ({
  type: "user",
  uuid: `10000000-0000-4000-8000-00000000000${++lines}`,
  parentUuid: null,
  isSidechain: false,
  timestamp: "2026-11-15T12:00:00.000Z",
  cwd: "/nowhere/at/all",
  sessionId: "x",
  version: "2.0.0",
  message: { role: "user", content },
});
