import { z } from "zod";
import { EFFORTS } from "../words.ts";
import { approvalAnswer } from "./approval-answer.ts";
import { toolResultContent, userContent } from "./content.ts";

// What a client may send into a session. Everything else that a log holds is the engine's to say.

const nonEmpty = <T extends z.ZodType>(block: T) => z.array(block).min(1, "expected at least one content block");

/** `queue` waits for the turn that is running to end; `steer` is put to the model within it. Ours: see `tandem`. */
const DELIVERIES = ["queue", "steer"] as const;

/** Who sent it: put there by the engine, over whatever a client says. */
const sender = { by: z.string().optional() };

export const userMessage = z
  .strictObject({
    type: z.literal("user.message"),
    content: nonEmpty(userContent),
    tandem: z
      .strictObject({
        delivery: z.enum(DELIVERIES).optional(),
        /** For the turn that it begins, and no other. */
        model: z.string().min(1).optional(),
        effort: z.enum(EFFORTS).optional(),
        /**
         * True: a person typed it, so that a leading `/name` is a command and `@path` a file. Without it, text means
         * nothing but itself: an application passes on what its own users write.
         */
        commands: z.boolean().optional(),
        /** The trace that it belongs to, as its request said (W3C Trace Context): the turn that it begins goes on with it. */
        traceparent: z.string().max(100).optional(),
        ...sender,
      })
      .optional(),
  })
  .meta({ id: "UserMessage" });

const userInterrupt = z
  .strictObject({
    type: z.literal("user.interrupt"),
    session_thread_id: z.string().nullish(),
    /** Binds it to the turn that this message begins: if that is over by then, nothing happens; if it waits, it is dropped. */
    tandem: z.strictObject({ turn_event_id: z.string().optional(), ...sender }).optional(),
  })
  .meta({ id: "UserInterrupt" });

/** Who answered; nobody did where it has expired. */
const answerer = { by: z.string(), expired: z.literal(true).optional() };

const userToolConfirmation = z
  .strictObject({
    type: z.literal("user.tool_confirmation"),
    tool_use_id: z.string(),
    result: z.enum(["allow", "deny"]),
    deny_message: z.string().nullish(),
    /** Put there by the engine and by `POST /v1/approvals/:id`, which checks it; clients do not send it. */
    tandem: approvalAnswer.omit({ result: true, message: true }).extend(answerer).optional(),
  })
  .meta({ id: "UserToolConfirmation" });

const userCustomToolResult = z
  .strictObject({
    type: z.literal("user.custom_tool_result"),
    custom_tool_use_id: z.string(),
    content: z.array(toolResultContent).optional(),
    is_error: z.boolean().nullish(),
    /** Put there by the engine; clients do not send it. */
    tandem: z.strictObject(answerer).optional(),
  })
  .meta({ id: "UserCustomToolResult" });

export const clientEvent = z.discriminatedUnion("type", [
  userMessage,
  userInterrupt,
  userToolConfirmation,
  userCustomToolResult,
]);
export type ClientEvent = z.infer<typeof clientEvent>;
export type ClientEventType = ClientEvent["type"];

/** Client events that Anthropic's API has and we refuse, and why. */
export const REFUSED_CLIENT_EVENTS = {
  "user.tool_result": "Tandem runs the built-in tools itself; only custom tools take a result",
  "user.define_outcome": "outcomes are not supported",
  "system.message": "mid-conversation system messages are not supported; put the words into the agent's system prompt",
} as const;
export type RefusedEventType = keyof typeof REFUSED_CLIENT_EVENTS;
