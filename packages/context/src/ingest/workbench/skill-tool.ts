import { nearest, TandemError } from "@tandem/protocol";
import { defineTool, type Tool } from "@tandem/runtime";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";

const FOLDER = fileURLToPath(new URL("../skills", import.meta.url));

/** Instructions that an agent loads on demand; otherwise every task would pay for them. */
export const SKILLS = {
  "writing-pages": "How a page is named, laid out and cited. Load it before the first page you write.",
  definitions: "Terms, metrics and their exact meaning: what to write down, and what to compare with the database.",
  metrics: "Defining a metric: when, the format of the file, and its expressions. Load it before metric_draft.",
  dbt: "Reading documents of a dbt project: models, tests, exposures, what they prove and what they do not.",
  "sql-history": "Reading SQL files and query history: what queries show about tables, joins and filters.",
  "handling-conflicts": "How to resolve contradictions between two documents, or between a document and a page.",
} as const;
export type SkillName = keyof typeof SKILLS;

export const listSkills = (names: readonly SkillName[]): string =>
  names.map((name) => `- ${name}: ${SKILLS[name]}`).join("\n");

export const skillTool = (names: readonly SkillName[]): Tool =>
  defineTool({
    name: "load_skill",
    description: `Loads instructions for a kind of task.\n${listSkills(names)}`,
    schema: z.object({ name: z.string().min(1).max(100) }),
    execute: async ({ name }) => {
      const known = names.find((each) => each === name);
      if (!known) {
        const meant = nearest(name, names);
        throw new TandemError("not_found", `There is no skill ${name}.`, {
          fix: meant ? `Did you mean ${meant}?` : `There are: ${names.join(", ")}.`,
        });
      }
      return { markdown: await readFile(join(FOLDER, `${known}.md`), "utf8") };
    },
  });
