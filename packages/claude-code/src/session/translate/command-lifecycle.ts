import { z } from "zod";

/** State of a sent message: `queued`, `started` when the model receives it, `completed` or `cancelled`. */
const message = z.object({ type: z.literal("command_lifecycle"), command_uuid: z.string(), state: z.string() });

/** The SDK forwards these messages but does not declare them. */
export function commandLifecycle(other: unknown): { uuid: string; state: string } | undefined {
  const { data } = message.safeParse(other);
  return data && { uuid: data.command_uuid, state: data.state };
}
