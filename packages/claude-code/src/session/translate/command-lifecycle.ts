import { z } from "zod";

/** What becomes of a message that was sent: `queued`, `started` when the model is given it, `completed` or `cancelled`. */
const message = z.object({
  type: z.literal("command_lifecycle"),
  command_uuid: z.string(),
  state: z.string(),
});

/** The SDK passes these on, and its types do not have them. */
export function commandLifecycle(other: unknown): { uuid: string; state: string } | undefined {
  const { data } = message.safeParse(other);
  return data && { uuid: data.command_uuid, state: data.state };
}
