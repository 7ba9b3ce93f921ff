import { setTimeout } from "node:timers/promises";
import { RequestError, type Approval, type ApprovalAnswer } from "@tandem/protocol";
import { z } from "zod";
import { callOfRequest } from "../projection/opencode-id.ts";
import { readFields, type OpencodeCall, type OpencodeRoute } from "./opencode-route.ts";
import { permissionAnswer, questionAnswer, type PermissionReply } from "../projection/permission-request.ts";

const FOUND_MS = 60_000;
const MAX_PAUSE_MS = 1_000;
const REPLIES = ["once", "always", "reject"] as const;

const replyBody = z.object({ reply: z.enum(REPLIES), message: z.string().max(10_000).optional() });
/** The older form of the same call. */
const respondBody = z.object({ response: z.enum(REPLIES) });
const answersBody = z.object({ answers: z.array(z.array(z.string())) });

/** Permissions and questions: Tandem's approvals. */
export const requestRoutes: OpencodeRoute[] = [
  {
    method: "GET",
    path: "/permission",
    scope: "read",
    handle: async ({ hub }) => pending(hub, "permission.asked"),
  },
  {
    method: "POST",
    path: "/permission/:request/reply",
    scope: "run",
    handle: async (call) => {
      const { reply, message } = readFields(replyBody, call.body);
      return replyTo(call, reply, message);
    },
  },
  {
    method: "POST",
    path: "/session/:session/permissions/:request",
    scope: "run",
    handle: async (call) => replyTo(call, readFields(respondBody, call.body).response, undefined),
  },
  { method: "GET", path: "/question", scope: "read", handle: async ({ hub }) => pending(hub, "question.asked") },
  {
    method: "POST",
    path: "/question/:request/reply",
    scope: "run",
    handle: async (call) => {
      const { answers } = readFields(answersBody, call.body);
      return settle(call, (approval) => questionAnswer(approval, answers));
    },
  },
  {
    method: "POST",
    path: "/question/:request/reject",
    scope: "run",
    handle: async (call) =>
      settle(call, () => ({ result: "deny", scope: "once", message: "The user did not answer." })),
  },
];

const replyTo = (call: OpencodeCall, reply: PermissionReply, message: string | undefined): Promise<boolean> =>
  settle(call, ({ suggestion }) => permissionAnswer(reply, { hasSuggestion: suggestion !== undefined, message }));

async function settle(call: OpencodeCall, answer: (approval: Approval) => ApprovalAnswer): Promise<boolean> {
  const id = callOfRequest(call.params["request"]!);
  const approval = await find(call, id);
  if (approval.status === "resolved") {
    throw new RequestError("conflict", `${approval.resolved?.by ?? "Another client"} has answered this already.`);
  }
  await call.engine.approvals.answer(id, answer(approval), call.token.name);
  return true;
}

/** A client may answer before the call is indexed, which takes until the model's message is complete. Listing refreshes it. */
async function find({ engine, hub, signal }: OpencodeCall, id: string): Promise<Approval> {
  const until = performance.now() + FOUND_MS;
  for (let pause = 10; ; pause = Math.min(2 * pause, MAX_PAUSE_MS)) {
    try {
      return await engine.approvals.get(id);
    } catch (error) {
      const session = [...hub.watches].find(([, { facts }]) => facts.pending.has(id))?.[0];
      const isMissing = error instanceof RequestError && error.code === "not_found";
      if (!isMissing || session === undefined || performance.now() > until) throw error;
      await setTimeout(pause, undefined, { signal });
      await engine.approvals.list({ status: "pending", session, limit: 1 });
    }
  }
}

async function pending(hub: OpencodeCall["hub"], type: "permission.asked" | "question.asked"): Promise<unknown[]> {
  await hub.list();
  return [...hub.watches.values()].flatMap((watch) =>
    watch.requests().flatMap((event) => (event.type === type ? [event.properties] : [])),
  );
}
