import { z } from "zod";

/** The delivery that has started a run. */
export const runCause = z.object({
  trigger: z.string(),
  event: z.string().nullable(),
  /** For the agent, in front of the deployment's first message. */
  text: z.string(),
  /** The person who asked for it, as `Name <address>`. */
  requester: z.string().nullable(),
});
export type RunCause = z.infer<typeof runCause>;
