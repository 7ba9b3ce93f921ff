import { z } from "zod";

/** The body of every refused or failed request, in Anthropic's format. */
export const errorBody = z
  .object({
    type: z.literal("error"),
    error: z.object({
      type: z.string(),
      message: z.string(),
      fix: z.string().optional().meta({ description: "The fix. Also the end of `message`." }),
      details: z.object({ error_code: z.string() }).optional(),
      missing_variables: z
        .array(z.string())
        .optional()
        .meta({ description: "Environment variables with secrets that the server lacks." }),
    }),
    request_id: z.string(),
  })
  .meta({ id: "Error" });
export type ErrorBody = z.output<typeof errorBody>;
