import { z } from "zod";
import { described, openObject } from "./event-schema.ts";

const base = {
  message: z.string(),
  retry_status: openObject({ type: z.enum(["retrying", "exhausted", "terminal"]) }),
  tandem: openObject({
    code: described("Tandem's stable error code.", z.string()),
    fix: z.string().optional(),
    resets_at: z.string().optional(),
  }).optional(),
};

const sessionErrorType = z.enum([
  "unknown_error",
  "model_overloaded_error",
  "model_rate_limited_error",
  "model_request_failed_error",
  "billing_error",
  "tool_use_limit_reached_error",
  "compaction_limit_reached_error",
]);
export type SessionErrorType = z.infer<typeof sessionErrorType>;

/** The error of a `session.error` event. */
export const sessionErrorDetail = z
  .discriminatedUnion("type", [
    openObject({ type: sessionErrorType, ...base }),
    openObject({
      type: z.enum(["mcp_connection_failed_error", "mcp_authentication_failed_error"]),
      mcp_server_name: z.string(),
      ...base,
    }),
    // The session continues without the repository, so these are always `retrying`.
    openObject({
      type: z.enum([
        "repository_authentication_error",
        "repository_forbidden_error",
        "repository_not_found_error",
        "repository_checkout_error",
        "repository_clone_error",
      ]),
      repository_url: described("Null if the repository could not be identified.", z.string().nullable()),
      ...base,
    }),
    openObject({
      type: z.literal("credential_host_unreachable_error"),
      credential_id: z.string(),
      vault_id: z.string(),
      ...base,
    }),
  ])
  .meta({ id: "SessionErrorDetail" });
export type SessionErrorDetail = z.infer<typeof sessionErrorDetail>;
