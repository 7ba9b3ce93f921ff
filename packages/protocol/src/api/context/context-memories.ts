import { z } from "zod";
import { evidence } from "./evidence.ts";
import { pageOf, pageQuery, time } from "../page.ts";

export const MEMORY_SCOPES = ["user", "project", "agent"] as const;

const memory = z
  .object({
    id: z.string(),
    text: z.string(),
    scope: z.enum(MEMORY_SCOPES),
    agent: z.string().nullable(),
    user: z.string().nullable(),
    tags: z.array(z.string()),
    created_at: z.string(),
    updated_at: z.string().nullable(),
    expires_at: z.string().nullable().meta({ description: "Null: it never expires." }),
    is_expired: z.boolean(),
    sources: z.array(evidence),
    contradicts: z
      .array(z.string())
      .meta({ description: "Ids of contradicting memories, whichever file records the contradiction." }),
  })
  .meta({ id: "ContextMemory", description: "A remembered statement with its evidence." });
export type ContextMemory = z.infer<typeof memory>;

const decided = z
  .object({
    proposal: z.string().nullable().meta({ description: "The proposal that can be undone; null if nothing changed." }),
  })
  .meta({ id: "MemoryDecision" });

const expiresAt = time.nullable();

export const contextMemoriesApi = {
  "context.memories.list": {
    query: z.strictObject({
      ...pageQuery,
      session: z
        .string()
        .min(1)
        .max(100)
        .optional()
        .meta({ description: "Only memories with evidence from this session." }),
    }),
    response: pageOf(memory),
  },
  "context.memories.create": {
    body: z
      .strictObject({
        text: z.string().min(1).max(20_000),
        scope: z.enum(MEMORY_SCOPES).default("project"),
        agent: z.string().min(1).max(200).optional(),
        tags: z.array(z.string().min(1).max(100)).max(20).default([]),
        expires_at: expiresAt.default(null),
        check: z
          .boolean()
          .default(true)
          .meta({ description: "False: do not check for contradictions with the model." }),
      })
      .meta({ id: "RememberThis" }),
    response: decided
      .extend({
        memory,
        unchecked: z.string().nullable().meta({ description: "Why contradictions were not checked." }),
      })
      .meta({ id: "Remembered" }),
  },
  "context.memories.keep": {
    body: z.strictObject({ expires_at: expiresAt }).meta({ id: "KeepMemory" }),
    response: decided,
  },
  "context.memories.forget": { response: decided },
};
