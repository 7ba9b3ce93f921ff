import { z } from "zod";
import { credentialsReport } from "../credentials.ts";
import { listOf } from "../page.ts";

const auth = z.object({
  state: z.string(),
  detail: z.string(),
  fix: z.string(),
  account: z
    .object({
      kind: z.string(),
      plan: z.string().optional(),
      email: z.string().optional(),
      organization: z.string().optional(),
    })
    .optional(),
});

const storage = z.union([
  z.object({
    state: z.literal("ready"),
    engine: z.string(),
    place: z.string(),
    schema: z.int(),
    bytes: z.number(),
    chosen_by: z.string(),
  }),
  z.object({ state: z.literal("not_yet"), engine: z.string(), place: z.string(), chosen_by: z.string() }),
  z.object({ state: z.literal("failed"), detail: z.string(), fix: z.string() }),
]);

const serverStatus = z
  .object({
    version: z.string(),
    node: z.string(),
    demo: z.boolean().describe("A scripted model answers: nothing is billed."),
    started_at: z.string(),
    roots: z.array(z.string()).describe("Folders that sessions may work in or under."),
    file: z.string().nullable().describe("The config; null where every setting has its default."),
    backend: z.string().describe("Backend of one-off calls; sessions run on Claude Code."),
    payer: z.string(),
    credential: z.string().nullable().describe("The source of the key, never the key."),
    auth,
    models: z.array(z.object({ role: z.string(), model: z.string(), falls_back: z.boolean() })),
    ignored: z.array(z.object({ key: z.string(), why: z.string() })).describe("Settings that have no effect."),
    sessions: z.object({
      payer: z.string(),
      auth,
      sandbox: z.object({
        on: z.boolean(),
        reason: z.string().optional(),
        fix: z.string().optional(),
        warning: z.string().optional(),
        details: z.array(z.string()).optional().describe("The protections of the sandbox on this machine."),
      }),
      trust: z.object({ folder: z.string(), state: z.string(), files: z.array(z.string()) }),
    }),
    storage,
    suggestions: z.array(z.string()).describe("Prompts that suit the folder of new sessions."),
  })
  .meta({ id: "ServerStatus" });
export type ServerStatus = z.infer<typeof serverStatus>;

const finding = z
  .object({
    name: z.string(),
    result: z.enum(["ok", "warning", "failure"]),
    detail: z.string(),
    fix: z.string().optional().describe("How to fix it, as a command if there is one."),
  })
  .meta({ id: "Finding" });
export type Finding = z.infer<typeof finding>;

export const statusApi = {
  "status.retrieve": { response: serverStatus },
  "status.examine": { response: listOf(finding) },
  "credentials.retrieve": { response: credentialsReport },
};
