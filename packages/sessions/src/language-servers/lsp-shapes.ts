import { z } from "zod";

// The parts of the Language Server Protocol 3.17 that are read here. Lines and columns count from 0.

const position = z.object({ line: z.int().nonnegative(), character: z.int().nonnegative() });
const range = z.object({ start: position, end: position });
export type Position = z.infer<typeof position>;

export const initializeResult = z.object({
  capabilities: z.object({ diagnosticProvider: z.unknown().optional() }).loose(),
});

const location = z.object({ uri: z.string(), range });
export type Location = z.infer<typeof location>;

const locationLink = z
  .object({ targetUri: z.string(), targetSelectionRange: range })
  .transform(({ targetUri, targetSelectionRange }): Location => ({ uri: targetUri, range: targetSelectionRange }));

/** The result of a question for a definition or for references. */
export const locations = z
  .union([z.array(z.union([location, locationLink])), location.transform((each) => [each])])
  .nullish()
  .transform((found) => found ?? []);

const markup = z.union([z.string(), z.object({ value: z.string() }).transform(({ value }) => value)]);
export const hover = z
  .object({ contents: z.union([markup.transform((text) => [text]), z.array(markup)]) })
  .nullish()
  .transform((found) => (found?.contents ?? []).join("\n\n").trim());

export interface DocumentSymbol {
  name: string;
  kind: number;
  selectionRange: z.infer<typeof range>;
  children?: DocumentSymbol[] | undefined;
}
const documentSymbol: z.ZodType<DocumentSymbol> = z.object({
  name: z.string(),
  kind: z.number(),
  selectionRange: range,
  get children() {
    return z.array(documentSymbol).optional();
  },
});

const symbolInformation = z.object({
  name: z.string(),
  kind: z.number(),
  location: z.object({ uri: z.string(), range: range.optional() }),
  containerName: z.string().nullish(),
});
export type SymbolInformation = z.infer<typeof symbolInformation>;

export const documentSymbols = z
  .union([z.array(documentSymbol), z.array(symbolInformation)])
  .nullish()
  .transform((found) => found ?? []);

export const workspaceSymbols = z
  .array(symbolInformation)
  .nullish()
  .transform((found) => found ?? []);

const diagnostic = z.object({
  range,
  severity: z.number().optional(),
  code: z.union([z.string(), z.number()]).nullish(),
  source: z.string().nullish(),
  message: z.string(),
});
export type Diagnostic = z.infer<typeof diagnostic>;

export const publishedDiagnostics = z.object({
  uri: z.string(),
  version: z.number().nullish(),
  diagnostics: z.array(diagnostic),
});

/** `unchanged` needs an earlier result id, which is never sent. */
export const diagnosticReport = z
  .object({ items: z.array(diagnostic).optional() })
  .nullish()
  .transform((report) => report?.items ?? []);

export const configurationItems = z.object({ items: z.array(z.object({ section: z.string().nullish() })) });

/** By their number in the protocol. */
const SYMBOL_KINDS =
  `symbol file module namespace package class method property field constructor enum interface function variable
  constant string number boolean array object key null enum_member struct event operator type_parameter`.split(/\s+/);
export const symbolKind = (kind: number): string => (SYMBOL_KINDS[kind] ?? "symbol").replace("_", " ");

export const ERROR = 1;
const SEVERITIES = ["error", "error", "warning", "information", "hint"];
/** A diagnostic without a severity counts as an error. */
export const severityOf = ({ severity = ERROR }: Diagnostic): string => SEVERITIES[severity] ?? "error";
