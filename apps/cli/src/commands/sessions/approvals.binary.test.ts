import { createServer } from "node:http";
import { createHmac } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { listenOnLoopback, text, toolUse } from "@tandem/rehearsal";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sessionMachine, type RunningUp } from "../../testing/session-machine.ts";

/** The fields of responses that these tests read. */
interface Reply {
  id: string;
  data: { stop_reason?: { type: string } }[];
  error: { message: string };
}

interface Received {
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** A webhook receiver that rejects the first delivery. */
async function listen() {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      received.push({ headers: request.headers, body });
      response.writeHead(received.length === 1 ? 503 : 204).end();
    });
  });
  const { url, ...listening } = await listenOnLoopback(server);
  return { ...listening, received, url: `${url}/hook?key=hidden` };
}

let hook: Awaited<ReturnType<typeof listen>>;
let machine: Awaited<ReturnType<typeof sessionMachine>>;
let up: RunningUp;
beforeAll(async () => {
  hook = await listen();
  machine = await sessionMachine(
    [],
    `notify:\n  webhooks:\n    - { url: "${hook.url}", secret: "env:HOOK_KEY", on: [approval, completed] }\n`,
    { HOOK_KEY: "a-made-up-key" },
  );
  up = await machine.up();
});
afterAll(async () => {
  await up[Symbol.asyncDispose]();
  await machine[Symbol.asyncDispose]();
  await hook[Symbol.asyncDispose]();
});

async function call(method: "GET" | "POST", path: string, body?: unknown): Promise<{ status: number; body: Reply }> {
  const response = await fetch(`${up.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${up.token}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Reply };
}

/** Creates a session that waits for an approval. */
async function asks(title: string): Promise<string> {
  const agent = await call("POST", "/v1/agents", {
    name: title,
    model: "sonnet",
    tools: [{ type: "agent_toolset_20260401" }],
  });
  const session = await call("POST", "/v1/sessions", {
    agent: agent.body.id,
    environment_id: "env_local",
    title,
    initial_events: [{ type: "user.message", content: [{ type: "text", text: "Do it." }] }],
  });
  const { id } = session.body;
  await expect.poll(async () => (await call("GET", `/v1/approvals?session_id=${id}`)).body.data).toHaveLength(1);
  return id;
}

/** Waits until the session is idle, so that the next script applies only to the next session. */
async function isOver(session: string): Promise<void> {
  const lastStop = async () =>
    (await call("GET", `/v1/sessions/${session}/events?order=desc&limit=1`)).body.data[0]?.stop_reason?.type;
  await expect.poll(lastStop).toBe("end_turn");
}

const tandem = async (...args: string[]) => {
  const { code, stdout, stderr } = await machine.run(args);
  expect(stderr).toBe("");
  expect(code).toBe(0);
  return stdout;
};

describe("tandem approvals", () => {
  test("lists, shows and allows an approval, and records the user", async () => {
    machine.rehearsal.use([toolUse("Bash", { command: "mkdir made-by-approval" }), text("Made.")]);
    const session = await asks("Folders");
    expect(await tandem("approvals", "list")).toMatch(/^sevt_\w+ {2}Bash {2}mkdir made-by-approval {2}Folders/);
    const shown = await tandem("approvals", "show", "last");
    expect(shown).toContain("mkdir made-by-approval");
    expect(shown).toMatch(/rule\s+allow Bash\(mkdir made-by-approval/);
    expect(await tandem("approvals", "allow", "last")).toMatch(/answer\s+allowed by/);
    await isOver(session);
    expect(existsSync(join(machine.project, "made-by-approval"))).toBe(true);
    expect(await tandem("approvals", "list")).toBe("Nothing needs you.\n");
    expect(await tandem("approvals", "history", "--session", session)).toMatch(/allowed.*Bash.*mkdir/);
  });

  test("denies with a reason, and rejects a second answer", async () => {
    machine.rehearsal.use([toolUse("Bash", { command: "mkdir never-made" }), text("A pity.")]);
    const session = await asks("Denied");
    const id = (JSON.parse(await tandem("approvals", "list", "--json")) as { approvals: { id: string }[] })
      .approvals[0]!.id;
    await tandem("approvals", "deny", id, "--message", "Not today.");
    const again = await call("POST", `/v1/approvals/${id}`, { result: "allow" });
    expect(again.status).toBe(409);
    expect(again.body.error.message).toMatch(/has been denied already by .*, at /);
    await isOver(session);
    expect(existsSync(join(machine.project, "never-made"))).toBe(false);
  });

  test("answers a question", async () => {
    const options = [
      { label: "Red", description: "Warm." },
      { label: "Blue", description: "Cold." },
    ];
    const questions = [{ question: "Which colour?", header: "Colour", options, multiSelect: false }];
    machine.rehearsal.use([toolUse("AskUserQuestion", { questions }), text("Noted.")]);
    const session = await asks("Colours");
    expect(await tandem("approvals", "show", "last")).toContain("Which colour?");
    await tandem("approvals", "answer", "last", "Something greenish");
    await isOver(session);
    expect(JSON.stringify(machine.rehearsal.modelRequests.at(-1)?.body)).toContain("Something greenish");
  });
});

const typesReceived = (): string[] => hook.received.map(({ body }) => (JSON.parse(body) as { type: string }).type);

describe("a webhook", () => {
  test("gets signed approvals and ends, retries failures, and contains no tool input", async () => {
    await expect.poll(() => hook.received.length).toBeGreaterThanOrEqual(4);
    for (const { headers, body } of hook.received) {
      const signature = createHmac("sha256", "a-made-up-key")
        .update(`${String(headers["tandem-timestamp"])}.${body}`)
        .digest("hex");
      expect(headers["tandem-signature"]).toBe(`v1=${signature}`);
      expect(body).not.toContain("mkdir");
      expect(body).not.toContain("greenish");
    }
    const first = hook.received.find(({ body }) => body.includes("Folders"));
    const delivery = first!.headers["tandem-delivery"];
    // The retry may come after later notifications.
    await expect
      .poll(() => hook.received.filter(({ headers }) => headers["tandem-delivery"] === delivery))
      .toHaveLength(2);
    expect(JSON.parse(first!.body)).toMatchObject({
      type: "approval",
      session_title: "Folders",
      tool: "Bash",
      kind: "tool",
      link: expect.stringContaining("/v1/approvals/sevt_"),
    });
    await expect.poll(typesReceived).toContain("completed");
  });

  test("a test command reports the deliveries and no secret", async () => {
    const said = await tandem("notifications", "test");
    expect(said).toMatch(/^✓ http:\/\/127\.0\.0\.1:\d+\/hook\n$/);
    // Others may arrive after it.
    expect(typesReceived()).toContain("test");
  });
});
