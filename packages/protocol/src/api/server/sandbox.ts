import { z } from "zod";
import { hostPatternProblem } from "../../config/sandbox-config.ts";
import { deletedOf } from "../page.ts";

const SCOPES = ["once", "session", "folder"] as const;

export const sandboxHost = z
  .object({
    id: z.string(),
    host: z.string().describe("Such as `example.com`, `*.example.com` or `example.com:8443`."),
    scope: z.enum(SCOPES).describe("`once`: for some minutes of the session, until `expires_at`."),
    of: z.string().describe("The session's id, or the folder with its subfolders."),
    by: z.string(),
    created_at: z.string(),
    expires_at: z.string().optional(),
  })
  .meta({ id: "SandboxHost" });
export type SandboxHost = z.infer<typeof sandboxHost>;

export const refusedHost = z
  .object({
    host: z.string(),
    session_id: z.string(),
    folder: z.string(),
    count: z.int().describe("Refused connections."),
    rule: z.string(),
    last_at: z.string(),
  })
  .meta({ id: "RefusedHost" });
export type RefusedHost = z.infer<typeof refusedHost>;

const host = z
  .string()
  .max(300)
  .superRefine((text, context) => {
    const message = hostPatternProblem(text);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  });

export const sandboxApi = {
  "sandbox.hosts.list": {
    query: z.strictObject({ session_id: z.string().optional().describe("Only those of this session and its folder.") }),
    response: z
      .object({
        data: z.array(sandboxHost).describe("Allowed hosts, oldest first."),
        refused: z.array(refusedHost).describe("Refused hosts that are not allowed since, newest first."),
      })
      .meta({ id: "SandboxHosts" }),
  },
  "sandbox.hosts.create": {
    body: z
      .strictObject({
        host,
        scope: z.enum(SCOPES).default("session").describe("`once`: for the next five minutes of the session."),
        session_id: z.string().optional().describe("The session; for the scope `folder`, its folder."),
        folder: z.string().min(1).max(4_096).optional().describe("For the scope `folder`, instead of a session."),
      })
      .meta({ id: "AllowHost" }),
    response: sandboxHost,
  },
  "sandbox.hosts.delete": { response: deletedOf("sandbox_host_deleted") },
};
