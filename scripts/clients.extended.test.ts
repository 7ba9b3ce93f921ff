import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { TandemClient } from "@tandem/client/stdio";
import { type ModelRequest, reply, text, toolUse } from "@tandem/rehearsal";
import { describe, expect, test } from "vitest";
import { isRunning } from "@tandem/tandem/testing";
import { outcomeOf } from "../apps/cli/src/testing/open-command.ts";
import { TANDEM } from "../apps/cli/src/testing/run-tandem.ts";
import { sessionMachine } from "../apps/cli/src/testing/session-machine.ts";
import { StdioProcess } from "../apps/cli/src/testing/stdio-process.ts";
import { processesIn } from "../apps/cli/src/testing/process-stats.ts";

const root = join(import.meta.dirname, "..");
const COMMAND = [process.execPath, TANDEM];

/** Writes the requested file if allowed; otherwise greets. */
const writes = ({ lastUserText, toolResults: [result] }: ModelRequest) => {
  const file = /Write (\S+\.txt)/.exec(lastUserText)?.[1];
  if (result) return text(result.isError ? "Then not." : "It is there.");
  return file
    ? reply([text("I write it."), toolUse("Bash", { command: `echo hello > ${file}` })])
    : text("Hello to you.");
};

const options = ["Rhine", "Danube"].map((label) => ({ label, description: label }));
const question = { question: "Which river?", header: "River", options, multiSelect: false };
/** Asks a question on "Ask me", and repeats its answer. */
const asks = (request: ModelRequest) => {
  if (request.toolResults[0]?.text.includes("Danube")) return text("The Danube.");
  return request.lastUserText.includes("Ask me")
    ? toolUse("AskUserQuestion", { questions: [question] })
    : writes(request);
};

type Machine = Awaited<ReturnType<typeof sessionMachine>>;
const variablesOf = ({ variables }: Machine) => ({ ...variables, SESSION_KEY: "sk-ant-made-up" });

describe("the client for TypeScript", () => {
  const start = (machine: Machine) =>
    TandemClient.start({ command: COMMAND, cwd: machine.project, env: variablesOf(machine), name: "tests/1.0" });

  test("runs turns with approvals, streams, files and rejections, and leaves nothing behind", async () => {
    await using machine = await sessionMachine(writes);
    const client = await start(machine);
    expect(client.hello).toMatchObject({ protocol: 1, engine: "own" });
    const tools = [{ type: "agent_toolset_20260401" as const }];
    const agent = await client.call("agents.create", { name: "Helper", model: "sonnet", tools });
    const session = await client.call("sessions.create", { agent: agent.id, environment_id: "env_local" });

    const asked: string[] = [];
    const types: string[] = [];
    for await (const event of client.turn(session.id, "Write allowed.txt", (call) => asked.push(call.type) > 0)) {
      types.push(event.type);
    }
    expect(asked).toEqual(["agent.tool_use"]);
    expect(types.at(-1)).toBe("session.status_idle");
    expect(existsSync(join(machine.project, "allowed.txt"))).toBe(true);

    const words: string[] = [];
    for await (const event of client.turn(session.id, "Write denied.txt", () => "Not today.")) {
      if (event.type === "agent.message")
        for (const block of event.content) if (block.type === "text") words.push(block.text);
    }
    expect(words.at(-1)).toBe("Then not.");
    expect(existsSync(join(machine.project, "denied.txt"))).toBe(false);

    // The events of both turns from the start; a break ends the stream.
    const cursors: number[] = [];
    for await (const { event, cursor } of await client.stream("sessions.events.stream", {
      session_id: session.id,
      after: "0",
      tandem: true,
    })) {
      if (cursor !== undefined) cursors.push(Number(cursor));
      if (event.type === "agent.message" && JSON.stringify(event).includes("Then not.")) break;
    }
    expect(cursors).toEqual(cursors.map((_, i) => i + 1));

    await expect(client.call("sessions.retrieve", { session_id: "sesn_none" })).rejects.toMatchObject({
      type: "not_found_error",
      status: 404,
    });
    await expect(client.stream("sessions.events.stream", { session_id: "sesn_none" })).rejects.toThrow("no session");
    await client.close();
    await expect(client.call("agents.list")).rejects.toMatchObject({ type: "gone" });
    expect(processesIn(machine.folder.path)).toEqual([]);
  });

  test("is notified when its Tandem dies", async () => {
    await using machine = await sessionMachine(writes);
    await using client = await start(machine);
    const feed = await client.stream("feed.stream");
    expect((await feed.next()).value).toMatchObject({ event: { type: "snapshot" } });
    const next = feed.next();
    const [pid] = processesIn(machine.project);
    process.kill(pid!, "SIGKILL");
    await expect(next).rejects.toMatchObject({ type: "gone" });
    await expect.poll(() => isRunning(pid!)).toBe(false);
  });
});

test("the guide's session runs as documented", async () => {
  const guide = readFileSync(join(root, "docs/guides/stdio.md"), "utf8");
  const [, session] = /^\$ tandem stdio\n([\s\S]*?)^```/m.exec(guide)!;
  await using machine = await sessionMachine(writes);
  await using host = new StdioProcess(machine.open(["stdio"]));
  const ids = new Map<string, string>();
  const types: string[] = [];
  for (const line of session!.trim().split("\n")) {
    if (line.startsWith("> ")) {
      const filled = line.slice(2).replaceAll(/(agent|sesn|sevt)_01…/g, (_, kind: string) => ids.get(kind)!);
      const { method, params } = JSON.parse(filled) as { method: string; params: Record<string, unknown> };
      host.send(method, params);
      continue;
    }
    // The guide shows only the start of the output.
    const [, id] = /^{"id":(\d+),"result"/.exec(line) ?? [];
    const [, stream, type] = /^{"stream":(\d+),"cursor":"\d+","event":{"type":"([\w.]+)"/.exec(line) ?? [];
    if (id !== undefined) {
      const { result } = (await host.until((one) => one["id"] === Number(id))) as { result: { id?: string } };
      if (result.id !== undefined) ids.set(result.id.split("_")[0]!, result.id);
    } else if (type !== undefined) {
      types.push(type);
      const count = types.filter((one) => one === type).length;
      let seen = 0;
      const event = await host.event(Number(stream), (one) => one["type"] === type && (seen += 1) === count);
      if (type === "agent.tool_use") ids.set("sevt", event["id"] as string);
    } else await host.until((one) => ("hello" in one && line.startsWith('{"hello"')) || "end" in one);
  }
  expect(types.filter((type) => type === "session.status_idle")).toHaveLength(2);
  expect(host.lines.at(-1)).toMatchObject({ id: 7, result: { cancelled: true } });
  expect(await host.end()).toMatchObject({ code: 0, stderr: "" });
  expect(host.faults).toEqual([]);
  expect(existsSync(join(machine.project, "hello.txt"))).toBe(true);
});

const hasPython = spawnSync("python3", ["-c", "import sys; sys.exit(sys.version_info < (3, 9))"]).status === 0;
const reason = hasPython ? "" : " (skipped: no python3 of version 3.9 or later)";

describe.skipIf(!hasPython)(`the client for Python${reason}`, () => {
  test("passes its own tests", async () => {
    await using machine = await sessionMachine(writes);
    const child = spawn("python3", ["-W", "error", "-m", "unittest", "-v"], {
      cwd: join(root, "clients/python"),
      env: {
        ...variablesOf(machine),
        PATH: process.env["PATH"],
        // Python's compiled files must not go into the repository.
        PYTHONDONTWRITEBYTECODE: "1",
        TANDEM_COMMAND: JSON.stringify(COMMAND),
        TANDEM_PROJECT: machine.project,
      },
    });
    const { code, stderr } = await outcomeOf(child);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/Ran 16 tests[\s\S]*OK\n$/) });
    expect(processesIn(machine.folder.path)).toEqual([]);
  });
});

const hasMono = spawnSync("mcs", ["--version"]).status === 0 && spawnSync("mono", ["--version"]).status === 0;

describe.skipIf(!hasMono)(`the client for C#${hasMono ? "" : " (skipped: no Mono)"}`, () => {
  test("compiles for Mono, and runs turns with approvals, questions, rejections and concurrent requests", async () => {
    await using machine = await sessionMachine(asks);
    const folder = join(root, "clients/csharp");
    const build = machine.folder.path;
    // Mono's compiler does not support this directive.
    const client = readFileSync(join(folder, "TandemClient.cs"), "utf8").replace(/^#nullable .*$/m, "");
    writeFileSync(join(build, "TandemClient.cs"), client);
    const sources = [
      join(build, "TandemClient.cs"),
      ...["JsonNodes.cs", "Sample.cs"].map((n) => join(folder, "testing", n)),
    ];
    const program = join(build, "sample.exe");
    const compiled = spawnSync("mcs", ["-langversion:7", `-out:${program}`, "-r:System.Json", ...sources]);
    expect(compiled.stderr.toString() + compiled.stdout.toString()).not.toContain("error");
    const child = spawn("mono", [program, ...COMMAND], {
      cwd: machine.project,
      // The program itself passes the key.
      env: { ...machine.variables, PATH: process.env["PATH"] },
    });
    const { code, stdout, stderr } = await outcomeOf(child);
    expect({ code, stderr, lines: stdout.trim().split("\n") }).toEqual({
      code: 0,
      stderr: "",
      lines: [
        "protocol 1",
        "It is there.",
        "Then not.",
        "The Danube.",
        "lists 30",
        "error not_found_error 404",
        "closed",
      ],
    });
    expect(existsSync(join(machine.project, "allowed.txt"))).toBe(true);
    expect(existsSync(join(machine.project, "denied.txt"))).toBe(false);
    expect(processesIn(build)).toEqual([]);
  });
});
