import { z } from "zod";

const DEFAULT_SECONDS = 60;

/** A text that must be contained, or `/regex/flags`; in a module also a regular expression itself. */
const pattern = z.preprocess(
  (value) => (value instanceof RegExp ? String(value) : value),
  z.string().min(1).transform(toPattern),
);

export interface TextPattern {
  source: string;
  matches: (text: string) => boolean;
}

const input = z.union([pattern, z.record(z.string(), pattern)]).optional();

const toolAssertion = z.union([
  z.strictObject({ called: z.string().min(1), input }),
  z.strictObject({ not_called: z.string().min(1), input }),
]);

const path = z
  .string()
  .min(1)
  .refine((text) => !text.startsWith("/") && !text.split("/").includes(".."), "Give a path within the folder.");

const fileAssertion = z.union([
  z.strictObject({ path, exists: z.literal(true).optional(), contains: pattern.optional() }),
  z.strictObject({ path, absent: z.literal(true) }),
]);

const program = z.union([
  z
    .string()
    .min(1)
    .transform((run) => ({ run, timeout: DEFAULT_SECONDS })),
  z.strictObject({ run: z.string().min(1), timeout: z.number().positive().max(3_600).default(DEFAULT_SECONDS) }),
]);

/** A case of `tandem cassettes test`: a cassette and assertions on its replay. */
export const cassetteCase = z
  .strictObject({
    cassette: z.string().min(1),
    mode: z.enum(["recorded", "real-tools"]).default("recorded"),
    /** The replay must not differ from the cassette. */
    identical: z.boolean().default(true),
    tools: z.array(toolAssertion).default([]),
    /** Of the folder after the last turn. */
    files: z.array(fileAssertion).default([]),
    /** US dollars at list prices. */
    cost_below: z.number().positive().optional(),
    /** `asked`, `none`, or the tools that must have asked. */
    approvals: z.union([z.enum(["asked", "none"]), z.array(z.string().min(1)).min(1)]).optional(),
    /** The text of the last answer. */
    answer: pattern.optional(),
    /** A shell command that must exit with 0 in the folder after the last turn. */
    program: program.optional(),
  })
  .refine(({ mode, program: command }) => command === undefined || mode === "real-tools", {
    path: ["program"],
    message: "A program runs only with mode: real-tools.",
  });

export type CassetteCase = z.output<typeof cassetteCase>;
export type ToolAssertion = z.output<typeof toolAssertion>;
export type FileAssertion = z.output<typeof fileAssertion>;

function toPattern(source: string, context: z.RefinementCtx): TextPattern {
  const [, body, flags] = /^\/(.+)\/([a-z]*)$/s.exec(source) ?? [];
  if (body === undefined) return { source, matches: (text) => text.includes(source) };
  try {
    const regex = new RegExp(body, flags?.replaceAll(/[gy]/g, ""));
    return { source, matches: (text) => regex.test(text) };
  } catch (error) {
    context.addIssue({ code: "custom", message: error instanceof Error ? error.message : String(error) });
    return z.NEVER;
  }
}
