import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { methods, type McpServer as NamedServer, type SessionUpdate } from "@agentclientprotocol/sdk/unstable";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { listenOnLoopback, overloaded, reply, text, toolUse, type ModelRequest, type Reply } from "@tandem/rehearsal";
import { expect, test } from "vitest";
import { z } from "zod";
import { foldUpdates, setAcpStage, type AcpStage } from "./testing/acp-stage.ts";

const isResult = ({ messages }: ModelRequest): boolean => {
  const content = messages.at(-1)?.content;
  return Array.isArray(content) && content.at(-1)?.type === "tool_result";
};

const allow = async () => ({ outcome: { outcome: "selected" as const, optionId: "allow" } });

const ofKind = <K extends SessionUpdate["sessionUpdate"]>(
  updates: readonly { update: SessionUpdate }[],
  kind: K,
): Extract<SessionUpdate, { sessionUpdate: K }>[] =>
  updates.flatMap(({ update }) =>
    update.sessionUpdate === kind ? [update as Extract<SessionUpdate, { sessionUpdate: K }>] : [],
  );

test("attachments reach the model, a retry and a compaction are notices, and task updates form one plan", async () => {
  let refusals = 0;
  const steps = [
    [toolUse("TaskCreate", { subject: "Look", description: "Look around" })],
    [toolUse("TaskCreate", { subject: "Fix", description: "Fix it" })],
    [toolUse("TaskUpdate", { taskId: "1", status: "completed" })],
    [toolUse("TaskUpdate", { taskId: "2", status: "in_progress" })],
  ];
  await using stage = await setAcpStage((request: ModelRequest): Reply => {
    if (request.lastUserText.includes("busy") && refusals++ === 0) return overloaded();
    if (request.lastUserText.includes("steps") || isResult(request)) {
      const step = steps.shift();
      if (step) return reply(step);
    }
    return text(`You said: ${request.lastUserText.slice(0, 100)}`);
  });
  const editor = await stage.editor({ capabilities: { session: { notices: {}, compaction: {} } } });
  const session = await editor.begin();
  const path = join(stage.folder, "some file.ts");
  const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const { stopReason } = await editor.agent.request(methods.agent.session.prompt, {
    sessionId: session,
    prompt: [
      { type: "text", text: "Look at these." },
      { type: "image", data: pixel, mimeType: "image/png" },
      {
        type: "resource",
        resource: { uri: pathToFileURL(path).href, text: "const made = 1;", mimeType: "text/plain" },
      },
      { type: "resource_link", uri: pathToFileURL(join(stage.folder, "other.ts")).href, name: "other.ts" },
    ],
  });
  expect(stopReason).toBe("end_turn");
  const sent = JSON.stringify(stage.rehearsal.modelRequests[0]!.body);
  expect(sent).toContain(pixel);
  expect(sent).toContain("const made = 1;");
  expect(sent).toContain(path);
  expect(sent).toContain(`[other.ts](${join(stage.folder, "other.ts")})`);
  await expect(
    editor.agent.request(methods.agent.session.prompt, {
      sessionId: session,
      prompt: [{ type: "audio", data: "AAAA", mimeType: "audio/wav" }],
    }),
  ).rejects.toThrow("audio is not supported");

  expect(await editor.say(session, "busy?")).toBe("end_turn");
  expect(ofKind(editor.updates, "notice")).toContainEqual(
    expect.objectContaining({ severity: "warning", title: expect.stringMatching(/^.*Attempt 1 of \d+ in \d+ s\.$/) }),
  );

  expect(await editor.say(session, "in steps")).toBe("end_turn");
  const plans = ofKind(editor.updates, "plan").map(({ entries }) =>
    entries.map(({ content, status }) => `${content}: ${status}`),
  );
  expect(plans).toEqual([
    ["Look: pending"],
    ["Look: pending", "Fix: pending"],
    ["Look: completed", "Fix: pending"],
    ["Look: completed", "Fix: in_progress"],
  ]);

  expect(await editor.say(session, "/compact")).toBe("end_turn");
  const compaction = await editor.until(({ sessionUpdate }) => sessionUpdate === "compaction_update");
  expect(compaction).toMatchObject({ status: "completed", summary: [{ type: "text" }] });
  expect(editor.schema.wrong).toEqual([]);

  // An editor that opens the session again gets the current plan and no old notices.
  await editor[Symbol.asyncDispose]();
  const later = await stage.editor({ capabilities: { session: { notices: {}, compaction: {} } } });
  await later.agent.request(methods.agent.session.load, { sessionId: session, cwd: stage.folder, mcpServers: [] });
  expect(ofKind(later.updates, "plan").map(({ entries }) => entries.length)).toEqual([2]);
  expect(ofKind(later.updates, "notice")).toEqual([]);
  expect(ofKind(later.updates, "compaction_update")).toHaveLength(1);
  const shown = ofKind(later.updates, "user_message_chunk").map(({ content }) => content.type);
  expect(shown.slice(0, 4)).toEqual(["text", "image", "text", "text"]);
  expect(later.schema.wrong).toEqual([]);
});

/** An MCP server with one tool: Streamable HTTP at `/mcp`, the older SSE transport at `/sse`. */
async function startServer() {
  const keys = new Set<string>();
  const streams = new Map<string, SSEServerTransport>();
  const open = (): McpServer => {
    const server = new McpServer({ name: "eyes", version: "1.0.0" });
    server.registerTool("look", { description: "Looks.", inputSchema: { at: z.string() } }, ({ at }) => ({
      content: [{ type: "text", text: `Seen: ${at}.` }],
    }));
    return server;
  };
  const take = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(incoming.url!, "http://localhost");
    keys.add(`${pathname} ${String(incoming.headers["x-key"])}`);
    if (pathname === "/messages") {
      await streams.get(searchParams.get("sessionId")!)!.handlePostMessage(incoming, outgoing);
    } else if (pathname === "/sse") {
      const transport = new SSEServerTransport("/messages", outgoing);
      streams.set(transport.sessionId, transport);
      await open().connect(transport);
    } else {
      const transport = new StreamableHTTPServerTransport({});
      await open().connect(transport);
      await transport.handleRequest(incoming, outgoing);
    }
  };
  return { ...(await listenOnLoopback(createServer((incoming, outgoing) => void take(incoming, outgoing)))), keys };
}

test("the editor's MCP servers are reached over HTTP and SSE, with its headers", async () => {
  await using server = await startServer();
  await using stage = await setAcpStage((request: ModelRequest): Reply => {
    if (isResult(request)) return text(`The tool said: ${request.toolResults.at(-1)!.text}`);
    return reply([toolUse(`mcp__${request.lastUserText}__look`, { at: request.lastUserText })]);
  });
  const editor = await stage.editor({ onPermission: allow });
  const headers = [{ name: "X-Key", value: "made-up" }];
  const mcpServers: NamedServer[] = [
    { type: "http", name: "near", url: `${server.url}/mcp`, headers },
    { type: "sse", name: "older", url: `${server.url}/sse`, headers },
  ];
  const { sessionId } = await editor.agent.request(methods.agent.session.new, { cwd: stage.folder, mcpServers });
  expect(server.keys).toEqual(new Set());
  expect(await editor.say(sessionId, "near")).toBe("end_turn");
  expect(await editor.say(sessionId, "older")).toBe("end_turn");
  const said = foldUpdates(editor.updates.map(({ update }) => update)).messages.join("\n");
  expect(said).toContain("Seen: near.");
  expect(said).toContain("Seen: older.");
  expect([...server.keys].toSorted()).toEqual(["/mcp made-up", "/messages made-up", "/sse made-up"]);
  expect(editor.schema.wrong).toEqual([]);
});

async function createAgent(stage: AcpStage, name: string, more: object): Promise<string> {
  const path = join(stage.project, `${name}.json`);
  const tools = [{ type: "agent_toolset_20260401", default_config: { permission_policy: { type: "always_allow" } } }];
  await writeFile(path, JSON.stringify({ name, model: "sonnet", tools, ...more }));
  return (JSON.parse(await stage.run("agents", "add", "--file", path, "--json")) as { id: string }).id;
}

test("a subagent's calls belong to the call that started it, or to a session of their own", async () => {
  await using stage = await setAcpStage((request: ModelRequest): Reply => {
    const isScout = request.system.includes("SUBAGENT-SCOUT");
    if (isResult(request)) return text(isScout ? "There is a river." : "A river, it says.");
    if (isScout) return reply([toolUse("Bash", { command: "echo seen" })]);
    const order = { description: "Look around", prompt: "Look.", subagent_type: "scout", run_in_background: false };
    return reply([toolUse("Agent", order)]);
  });
  const scout = await createAgent(stage, "scout", { system: "SUBAGENT-SCOUT" });
  await createAgent(stage, "leader", { multiagent: { type: "coordinator", agents: [scout] } });

  const editor = await stage.editor({ args: ["--agent", "leader"] });
  const session = await editor.begin();
  expect(await editor.say(session, "explore")).toBe("end_turn");
  const { calls, messages } = foldUpdates(editor.updates.map(({ update }) => update));
  expect(calls).toMatchObject([
    { title: "Look around", status: "completed" },
    { title: "echo seen", status: "completed", _meta: { tandem: { parentToolCallId: calls[0]!["toolCallId"] } } },
  ]);
  // The subagent's answer is in the call's result, not in the agent's own messages.
  expect(messages.filter((line) => line.includes("There is a river."))).toEqual([]);
  expect(messages.join("\n")).toContain("A river, it says.");

  const knowing = await stage.editor({ args: ["--agent", "leader"], capabilities: { subagents: {} } });
  const other = await knowing.begin();
  expect(await knowing.say(other, "explore")).toBe("end_turn");
  const [begun] = ofKind(knowing.updates, "subagent_update");
  expect(begun).toMatchObject({ title: "scout", state: { state: "running" } });
  const apart = knowing.updates.filter(({ sessionId }) => sessionId === begun!.sessionId).map(({ update }) => update);
  expect(foldUpdates(apart)).toMatchObject({ calls: [{ title: "echo seen", status: "completed" }] });
  expect(foldUpdates(apart).messages.join("\n")).toContain("There is a river.");
  expect([...editor.schema.wrong, ...knowing.schema.wrong]).toEqual([]);
});
