import { z } from "zod";
import type { Payer } from "../models/call-report.ts";
import { typed } from "./typed.ts";

const place = z.object({
  id: z.string().describe("A variable's name, or a file and the key in it."),
  group: z.enum(["environment", "settings", "state", "login", "keychain", "others"]),
  kind: z.enum(["api_key", "bearer_token", "oauth_token", "login", "helper", "headers", "cloud", "address"]),
  state: z.enum(["found", "absent", "unreadable", "malformed", "unavailable"]),
  read_by: z.enum(["claude_code", "others", "nobody"]),
  detail: z.string().optional(),
  login: z
    .object({
      expires_at: z.string().nullable(),
      expired: z.boolean(),
      renewable: z.boolean(),
      plan: z.string().nullable(),
      scopes: z.array(z.string()),
    })
    .optional(),
});

/** Where credentials are and which are used: kinds and sources, never a value. */
export const credentialsReport = z
  .object({
    config_dir: z.object({ path: z.string(), chosen_by: z.string() }),
    places: z.array(place),
    claude_code: z
      .object({
        sends: z.record(z.string(), z.string()),
        cloud: z.string().nullable(),
        host: z.string().nullable(),
        payer: z.string(),
      })
      .describe("The credential that Claude Code would send if it were started without Tandem."),
    login: z.object({ place: z.string().nullable(), payer: z.string() }),
    tandem: z
      .array(
        z.object({
          for: z.enum(["calls", "sessions"]),
          backend: z.string(),
          /** The credential's source. Null if none is needed or found. */
          source: z.string().nullable(),
          /** `unknown`: only a request could tell. `expired`: an expired login without a refresh token. */
          state: z.enum(["found", "absent", "expired", "unknown", "none_needed"]),
          payer: typed<Payer>()(z.string()),
          because: z.string(),
        }),
      )
      .describe("The credential that Tandem uses, and the setting that decides."),
    notices: z.array(z.object({ about: z.string(), text: z.string(), fix: z.string().optional() })),
  })
  .meta({ id: "CredentialsReport" });
export type CredentialsReport = z.infer<typeof credentialsReport>;
