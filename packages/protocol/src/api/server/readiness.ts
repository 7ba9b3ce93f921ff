import { z } from "zod";

/** The body of `GET /readyz` with status 503: why the process takes no requests. A ready process answers without a body. */
export const unready = z.object({ reason: z.string() });
export type Unready = z.infer<typeof unready>;
