import { RequestError } from "@tandem/protocol";
import { z } from "zod";
import { sessionOfId } from "../projection/opencode-id.ts";
import { readFields, type OpencodeRoute } from "./opencode-route.ts";
import { promptParts } from "./prompt-content.ts";
import { sendPrompt, streamAnswer, type PromptRequest } from "./send-prompt.ts";

const model = z.object({ providerID: z.string(), modelID: z.string() });

const promptBody = z.object({
  messageID: z.string().optional(),
  model: model.optional(),
  agent: z.string().optional(),
  variant: z.string().optional(),
  noReply: z.boolean().optional(),
  system: z.string().optional(),
  tools: z.record(z.string(), z.boolean()).optional(),
  format: z.object({ type: z.string() }).optional(),
  parts: promptParts,
});

const commandBody = z.object({
  messageID: z.string().optional(),
  command: z.string().min(1),
  arguments: z.string().default(""),
  model: z.string().optional(),
  agent: z.string().optional(),
  variant: z.string().optional(),
  parts: promptParts.default([]),
});

const shellBody = z.object({ command: z.string().min(1).max(10_000) });

/** Messages: read, prompt, slash commands and shell commands. */
export const messageRoutes: OpencodeRoute[] = [
  {
    method: "GET",
    path: "/session/:session/message",
    scope: "read",
    handle: async ({ hub, params, query }) => {
      const { session, thread } = sessionOfId(params["session"]!);
      const messages = (await hub.watch(session)).messages(thread);
      const before = query.get("before");
      const end = before === null ? messages.length : messages.findIndex(({ info }) => info.id === before);
      const until = messages.slice(0, Math.max(0, end));
      const limit = Number(query.get("limit") ?? 0);
      return limit > 0 ? until.slice(-limit) : until;
    },
  },
  {
    method: "GET",
    path: "/session/:session/message/:message",
    scope: "read",
    handle: async ({ hub, params }) => {
      const { session, thread } = sessionOfId(params["session"]!);
      const found = (await hub.watch(session)).messages(thread).find(({ info }) => info.id === params["message"]);
      if (found) return found;
      throw new RequestError("not_found", `There is no message ${params["message"]} in this session.`);
    },
  },
  {
    method: "POST",
    path: "/session/:session/message",
    scope: "run",
    handle: async (call) => streamAnswer(call, await sendPrompt(call, promptOf(call.body))),
  },
  {
    method: "POST",
    path: "/session/:session/prompt_async",
    scope: "run",
    handle: async (call) => {
      const { settled } = await sendPrompt(call, promptOf(call.body));
      settled.catch(() => undefined);
      return new Response(null, { status: 204 });
    },
  },
  {
    method: "POST",
    path: "/session/:session/command",
    scope: "run",
    handle: async (call) => {
      const { command, arguments: words, model: named, parts, ...rest } = readFields(commandBody, call.body);
      const text = `/${command}${words === "" ? "" : ` ${words}`}`;
      const [providerID = "", ...modelID] = named?.split("/") ?? [];
      const request: PromptRequest = {
        ...rest,
        ...(named !== undefined && { model: { providerID, modelID: modelID.join("/") } }),
        parts: [{ type: "text", text }, ...parts],
        isTyped: true,
      };
      return streamAnswer(call, await sendPrompt(call, request));
    },
  },
  {
    method: "POST",
    path: "/session/:session/shell",
    scope: "run",
    handle: async ({ engine, hub, params, body, token, signal }) => {
      const { session } = sessionOfId(params["session"]!);
      const watch = await hub.watch(session);
      const event = await engine.sessions.shell(session, readFields(shellBody, body).command, token.name, signal);
      await watch.reach(await engine.sessions.head(session));
      const ran = watch
        .messages(null)
        .find(({ parts }) => parts.some((part) => part.type === "tool" && part.callID === event.id));
      if (ran) return ran;
      throw new RequestError("unavailable", "The command ran, but its message is not there yet.");
    },
  },
];

function promptOf(body: unknown): PromptRequest {
  const { noReply, system, tools = {}, format, ...request } = readFields(promptBody, body);
  const refuse = (field: string, fix: string): never => {
    throw new RequestError("not_supported", `${field}: Tandem does not take this with a message.`, { fix });
  };
  if (noReply) refuse("noReply", "Send the text with the next prompt.");
  if (system !== undefined) refuse("system", "Set the system prompt of the agent.");
  // Enabling is harmless: what a tool may do is decided by Tandem's rules.
  if (Object.values(tools).includes(false))
    refuse("tools", "Set the tools of the agent, or add a rule that denies them.");
  if (format !== undefined && format.type !== "text")
    refuse("format", "Set an output schema on the session in Tandem's API.");
  return { ...request, isTyped: false };
}
