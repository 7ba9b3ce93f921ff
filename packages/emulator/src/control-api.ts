import { parseScript } from "@tandem/rehearsal";
import { z } from "zod";
import type { Emulator } from "./emulator.ts";

/** Requests below this path drive the emulator, for tests in other languages. */
export const CONTROL_PATH = "/_emulator/";

const target = { method: z.string().optional(), path: z.string().optional() };
const times = z.int().positive().default(1);
const fault = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("status"),
    status: z.int().min(400).max(599),
    retryAfterSeconds: z.number().nonnegative().optional(),
  }),
  z.strictObject({ type: z.literal("lost_request") }),
  z.strictObject({ type: z.literal("lost_answer") }),
  z.strictObject({ type: z.literal("cut_stream"), afterEvents: z.int().nonnegative() }),
  z.strictObject({ type: z.literal("slow"), ms: z.number().nonnegative() }),
  z.strictObject({ type: z.literal("duplicate") }),
  z.strictObject({ type: z.literal("half_open"), ms: z.number().nonnegative() }),
]);
const webhookFault = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("duplicate") }),
  z.strictObject({ type: z.literal("lost") }),
  z.strictObject({ type: z.literal("slow"), ms: z.number().nonnegative() }),
]);

const faultBody = z.strictObject({ fault, times, ...target });
const webhookFaultBody = z.strictObject({ fault: webhookFault, times, path: target.path });
const clockBody = z.union([
  z.strictObject({ advance_seconds: z.number().nonnegative() }),
  z.strictObject({ move_to: z.coerce.date() }),
]);
const toolsBody = z.record(z.string(), z.union([z.string(), z.object({ text: z.string(), isError: z.boolean() })]));
const scriptBody = z.strictObject({ script: z.unknown() });
const restartBody = z.strictObject({ how: z.enum(["stop", "kill"]).default("stop") });

type Route = (emulator: Emulator, body: unknown) => unknown;

const ROUTES: Readonly<Record<string, Route>> = {
  "PUT script": ({ model }, body) => model.use(parseScript(scriptBody.parse(body).script)),
  "GET model": ({ model }) => ({
    requests: model.modelRequests.map(({ model: name, system, lastUserText, toolResults, toolNames }) => ({
      model: name,
      system,
      last_user_text: lastUserText,
      tool_results: toolResults,
      tools: toolNames,
    })),
    misses: model.misses.map(({ message }) => message),
    unused: model.unused,
  }),
  "PUT tools": ({ tools }, body) => {
    for (const [name, result] of Object.entries(toolsBody.parse(body))) tools[name] = () => result;
  },
  "GET clock": ({ clock }) => ({ now: new Date(clock.now()).toISOString() }),
  "POST clock": ({ clock }, body) => {
    const move = clockBody.parse(body);
    if ("move_to" in move) clock.moveTo(move.move_to);
    else clock.advance(move.advance_seconds * 1_000);
    return { now: new Date(clock.now()).toISOString() };
  },
  "POST faults": ({ faults }, body) => {
    const { fault: what, times: uses, method, path } = faultBody.parse(body);
    faults.next(what, { ...(method && { method }), ...(path && { path }) }, uses);
  },
  "POST webhook_faults": ({ faults }, body) => {
    const { fault: what, times: uses, path } = webhookFaultBody.parse(body);
    faults.nextWebhook(what, path === undefined ? {} : { path }, uses);
  },
  "DELETE faults": ({ faults }) => faults.clear(),
  "GET webhooks": ({ webhooks }) => ({ url: webhooks.url, received: webhooks.received }),
  "POST restart": (emulator, body) => emulator.restart(restartBody.parse(body ?? {}).how),
};

export interface ControlAnswer {
  status: number;
  body: unknown;
}

/** Answers a request below `CONTROL_PATH`. Invalid input changes nothing and is named. */
export async function control(emulator: Emulator, method: string, path: string, text: string): Promise<ControlAnswer> {
  const route = ROUTES[`${method} ${path.slice(CONTROL_PATH.length)}`];
  if (!route) {
    const known = Object.keys(ROUTES).map((each) => each.replace(" ", ` ${CONTROL_PATH}`));
    return refusal(404, `The emulator has no ${method} ${path}. It has: ${known.join(", ")}.`);
  }
  try {
    return { status: 200, body: (await route(emulator, text === "" ? undefined : JSON.parse(text))) ?? {} };
  } catch (error) {
    const message = error instanceof z.ZodError ? z.prettifyError(error) : error instanceof Error ? error.message : "";
    return refusal(400, message);
  }
}

const refusal = (status: number, message: string): ControlAnswer => ({
  status,
  body: { type: "error", error: { type: status === 404 ? "not_found_error" : "invalid_request_error", message } },
});
