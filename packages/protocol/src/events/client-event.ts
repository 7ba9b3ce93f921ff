import { z } from "zod";
import { EFFORTS } from "../words.ts";
import { approvalAnswer } from "./approval-answer.ts";
import { textBlock, toolResultContent, userContent } from "./content.ts";
import { userDefineOutcome } from "./define-outcome.ts";

// Events that clients may send into a session. The engine writes all others.

const nonEmpty = <T extends z.ZodType>(block: T) => z.array(block).min(1, "expected at least one content block");

/** `queue` waits for the end of the running turn; `steer` reaches the model within it. Our extension, under `tandem`. */
const DELIVERIES = ["queue", "steer"] as const;

/** The sender. The engine overwrites any value that a client sends. */
const sender = { by: z.string().optional() };

export const userMessage = z
  .strictObject({
    type: z.literal("user.message"),
    content: nonEmpty(userContent),
    tandem: z
      .strictObject({
        delivery: z.enum(DELIVERIES).optional(),
        /** Applies only to the turn that the message starts. */
        model: z.string().min(1).optional(),
        effort: z.enum(EFFORTS).optional(),
        /**
         * True: a person typed it, so a leading `/name` is a command and `@path` a file. Default false, because an application
         * forwards the text of its own users.
         */
        commands: z.boolean().optional(),
        /** The trace of the request (W3C Trace Context); the turn that the message starts continues it. */
        traceparent: z.string().max(100).optional(),
        /** In lists of events: why a queued message waits although no turn runs. The engine drops a value that a client sends. */
        waits_for: z.string().optional(),
        ...sender,
      })
      .optional(),
  })
  .meta({ id: "UserMessage" });

export const userInterrupt = z
  .strictObject({
    type: z.literal("user.interrupt"),
    session_thread_id: z.string().nullish(),
    /**
     * Applies only to the turn that this message started: ignored if that turn has ended; if the message still waits, it is
     * dropped.
     */
    tandem: z.strictObject({ turn_event_id: z.string().optional(), ...sender }).optional(),
  })
  .meta({ id: "UserInterrupt" });

/** The name of the person who answered; `expired` if no answer came in time. */
const answerer = { by: z.string(), expired: z.literal(true).optional() };

/** Clients may repeat the thread of the call, as older samples do. */
const answeredThread = z.string().nullish();

export const userToolConfirmation = z
  .strictObject({
    type: z.literal("user.tool_confirmation"),
    tool_use_id: z.string(),
    result: z.enum(["allow", "deny"]),
    deny_message: z.string().nullish(),
    session_thread_id: answeredThread,
    /** Set by the engine and by `POST /v1/approvals/:id`, which validates it; clients do not send it. */
    tandem: approvalAnswer
      .omit({ result: true, message: true })
      .extend({
        ...answerer,
        /** Dismisses an allowed call that has not started, or runs one that could not start. */
        again: z.literal(true).optional(),
      })
      .optional(),
  })
  .meta({ id: "UserToolConfirmation" });

const toolResult = {
  content: z.array(toolResultContent).optional(),
  is_error: z.boolean().nullish(),
  session_thread_id: answeredThread,
  /** Set by the engine; clients do not send it. */
  tandem: z.strictObject(answerer).optional(),
};

export const userCustomToolResult = z
  .strictObject({ type: z.literal("user.custom_tool_result"), custom_tool_use_id: z.string(), ...toolResult })
  .meta({ id: "UserCustomToolResult" });

/** Only in self-hosted environments, where a worker runs the tools. */
export const userToolResult = z
  .strictObject({ type: z.literal("user.tool_result"), tool_use_id: z.string(), ...toolResult })
  .meta({ id: "UserToolResult" });

/** Instructions of the application, for this and all later turns. */
export const systemMessage = z
  .strictObject({
    type: z.literal("system.message"),
    content: nonEmpty(textBlock).max(1_000, "expected at most 1000 content blocks"),
    /** Set by the engine; clients do not send it. */
    tandem: z.strictObject(sender).optional(),
  })
  .meta({ id: "SystemMessage" });

export const clientEvent = z.discriminatedUnion("type", [
  userMessage,
  userInterrupt,
  userToolConfirmation,
  userCustomToolResult,
  userToolResult,
  systemMessage,
  userDefineOutcome,
]);
export type ClientEvent = z.infer<typeof clientEvent>;
