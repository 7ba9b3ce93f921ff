import { z } from "zod";
import {
  systemMessage,
  userCustomToolResult,
  userInterrupt,
  userMessage,
  userToolConfirmation,
  userToolResult,
} from "./client-event.ts";
import { programGrader, userDefineOutcome } from "./define-outcome.ts";
import { event, openObject } from "./event-schema.ts";
import { interruption } from "./tool-event.ts";

// Events from clients, as the log has them.

const inThread = { session_thread_id: z.string().nullish() };

/** The engine also writes results, to close a call that can no longer be answered. */
const closed = {
  tandem: openObject({
    by: z.string().optional(),
    expired: z.literal(true).optional(),
    interrupted: interruption.optional(),
  }).optional(),
};

export const loggedClientEvents = {
  ...event("user.message", "A message to the agent.", { ...userMessage.shape, ...inThread }),
  ...event("user.interrupt", "Stops the running turn.", { ...userInterrupt.shape, ...inThread }),
  ...event("user.tool_confirmation", "The answer to an approval request.", {
    ...userToolConfirmation.shape,
    ...inThread,
  }),
  ...event("user.custom_tool_result", "The result of a tool of the application.", {
    ...userCustomToolResult.shape,
    ...inThread,
    ...closed,
  }),
  ...event("user.tool_result", "The result of a tool that a worker of a self-hosted environment ran.", {
    ...userToolResult.shape,
    ...inThread,
    ...closed,
  }),
  ...event("system.message", "Instructions of the application, for this and all later turns.", {
    ...systemMessage.shape,
    ...inThread,
  }),
  ...event(
    "user.define_outcome",
    "A deliverable and a rubric. A grader evaluates each attempt until one is satisfied.",
    {
      outcome_id: z.string(),
      description: z.string(),
      rubric: userDefineOutcome.shape.rubric,
      max_iterations: z.int().nullable(),
      tandem: openObject({ by: z.string().optional(), grader: programGrader.optional() }).optional(),
    },
  ),
};
