import { always, type ModelRequest, object, type Reply, type Rule, when } from "@tandem/rehearsal";
import { z } from "zod";
import type { DescriptionAnswer } from "../description-prompt.ts";
import type { JoinAnswer } from "../join-prompt.ts";

const line = z.object({
  schema: z.string(),
  table: z.string(),
  describe: z.string().optional(),
  columns: z.array(z.object({ name: z.string() })),
});

/** The requested tables; empty for later messages. */
export function askedTables({ lastUserText }: ModelRequest): z.output<typeof line>[] {
  const [, lines = ""] = /<tables>\n(.*)\n<\/tables>/s.exec(lastUserText) ?? [];
  return lines
    .split("\n")
    .filter(Boolean)
    .map((text) => line.parse(JSON.parse(text)));
}

// Anywhere in the text: a warm Claude Code adds text before the prompt.
export const isAboutDescriptions = ({ lastUserText }: ModelRequest): boolean => /^Describe th/m.test(lastUserText);
export const isAboutJoins = ({ lastUserText }: ModelRequest): boolean => /^Which columns/m.test(lastUserText);

/** Describes all requested tables. `change` alters the answer. */
export function describeAll(
  change: (answer: DescriptionAnswer, request: ModelRequest) => DescriptionAnswer = (answer) => answer,
): Rule {
  return always(when(isAboutDescriptions, (request) => asObject(change(descriptionsFor(request), request), request)));
}

function descriptionsFor(request: ModelRequest): DescriptionAnswer {
  return {
    tables: askedTables(request).map(({ schema, table, columns, describe }) => ({
      schema,
      table,
      description: describe ? "" : `Rows of ${table}.`,
      columns: columns.map(({ name }) => ({ name, description: `The ${name} of ${table}.` })),
    })),
  };
}

/** Suggests these joins in every join request. */
export const nameJoins = (...joins: JoinAnswer["joins"]): Rule =>
  always(when(isAboutJoins, (request) => asObject({ joins }, request)));

/** An object, in the way the request asks for one. */
async function asObject(value: object, request: ModelRequest): Promise<Reply> {
  const { answer } = object(value);
  return typeof answer === "function" ? answer(request) : answer;
}
