import { z } from "zod";
import { deadline } from "./duration.ts";
import { harmless, needsTrust } from "./trust-mark.ts";

const isProgram = ([program = ""]: readonly string[]): boolean => program.startsWith("/") || !program.includes("/");

const languageServer = z.strictObject({
  command: z
    .array(z.string().min(1))
    .min(1)
    .refine(isProgram, "expected the name of a program or an absolute path")
    .describe(
      "Program and arguments; it speaks the protocol on stdin and stdout. A name is looked up in `node_modules/.bin` of the session's folder, then in PATH.",
    ),
  extensions: z
    .array(z.string().regex(/^\.[^/]+$/, "expected an extension, such as .rs"))
    .min(1)
    .describe("Extensions of its files, such as `.rs`."),
  languageId: z
    .string()
    .min(1)
    .optional()
    .describe("Name of the language in the protocol. Default: the server's name."),
});

export const lspSection = z.strictObject({
  enabled: z
    .boolean()
    .default(true)
    .meta(harmless("Language servers run in trusted folders only."))
    .describe("Whether sessions in trusted folders have the tools of installed language servers."),
  idle: deadline
    .prefault("10m")
    .meta(harmless("Memory of this machine."))
    .describe("Time that a language server runs after its last use."),
  servers: z
    .record(z.string().regex(/^[a-z][a-z0-9_-]{0,39}$/), languageServer)
    .default({})
    .meta(needsTrust())
    .describe("Further language servers, by name. `typescript` and `python` replace those that Tandem finds."),
});
