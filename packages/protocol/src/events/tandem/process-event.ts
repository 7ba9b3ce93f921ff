import { z } from "zod";
import { backgroundTask } from "../../api/sessions/session-tasks.ts";
import { described, event, eventId, openObject } from "../event-schema.ts";
import { usageSnapshot } from "../usage-snapshot.ts";

// The process of a session, and the worker that runs it.

const sandboxState = openObject({
  on: z.boolean(),
  reason: described("Why it is off.", z.string().optional()),
  fix: described("How to turn it on.", z.string().optional()),
  network: described(
    "`none`: only the model's API is reachable, because a program for the relay is missing.",
    z.enum(["proxy", "none"]).optional(),
  ),
  credential: described(
    "`outside`: the process has a stand-in. `access_token`: it has the short-lived token of a login, never the refresh token.",
    z.enum(["outside", "access_token"]).optional(),
  ),
  limits: described(
    "The limits that bind, such as `processes 2048`, and those that this machine does not enforce.",
    openObject({ bind: z.array(z.string()), open: z.array(z.string()) }).optional(),
  ),
}).meta({
  id: "SandboxState",
  description: "Whether a session's process runs in a sandbox, and what that covers on this machine.",
});
export type SandboxState = z.infer<typeof sandboxState>;

export const tandemProcessEvents = {
  ...event("tandem.init", "A Claude Code process began to work for the session.", {
    model: z.string(),
    tools: z.array(z.string()),
    mcp_servers: z.array(openObject({ name: z.string(), status: z.string() })),
    folder: z.string(),
    claude_session_id: described("Claude Code's own id of the conversation.", z.string()),
    claude_code_version: z.string(),
    sandbox: sandboxState.optional(),
    skills: described("Names of skills of the trusted folder and of the agent.", z.array(z.string()).optional()),
  }),
  ...event("tandem.background", "Background tasks of the session.", { tasks: z.array(backgroundTask) }),
  ...event("tandem.mcp_status", "The connections to the MCP servers.", {
    servers: z.array(openObject({ name: z.string(), status: z.string(), error: z.string().optional() })),
  }),
  ...event("tandem.recovered", "A process or machine died during a turn; its open calls have been closed.", {
    cause: z.string(),
    closed: z.array(eventId),
  }),
  ...event(
    "tandem.unplaced",
    "Input waits for a worker that does not exist yet. A matching worker takes it when it joins.",
    {
      place: z.string(),
      needs: described("The worker that is needed.", z.string()),
      fix: described("How to provide it.", z.string().optional()),
    },
  ),
  ...event("tandem.placed", "A worker took the input that `tandem.unplaced` announced.", { worker: z.string() }),
  ...event("tandem.handover", "The worker left the turn between two steps, and another worker continues it.", {
    from: z.string(),
  }),
  ...event(
    "tandem.process_wait",
    "The turn waits for a free Claude Code process. `session.status_running` ends the wait.",
    { ahead: described("The number of turns that are served first.", z.int()) },
  ),
  ...event("tandem.imported", "The following events were imported.", {
    from: described(
      "A transcript of Claude Code, or output of `claude --print`.",
      z.enum(["claude-code", "claude-print"]),
    ),
    claude_session_id: z.string().nullable(),
    folder: described("The conversation's working folder.", z.string().nullable()),
    claude_code_version: z.string().nullable(),
    models: z.array(z.string()),
    lines: z.int(),
    unreadable: described("The number of lines that were not JSON.", z.int()),
    usage: described("Paid outside Tandem.", usageSnapshot),
    usd: z.number(),
  }),
};
