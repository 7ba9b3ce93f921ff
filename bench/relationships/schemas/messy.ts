import { companies } from "./messy/companies.ts";
import { escuela } from "./messy/escuela.ts";
import { exportsOfPrograms } from "./messy/exports.ts";
import { forum } from "./messy/forum.ts";
import { freight } from "./messy/freight.ts";
import { history } from "./messy/history.ts";
import { hopital } from "./messy/hopital.ts";
import { insurer } from "./messy/insurer.ts";
import { lager } from "./messy/lager.ts";
import { starTerse } from "./messy/star-terse.ts";
import type { Schema } from "./schema.ts";

/** Orphans, mixed types, roles and terse names. Their links were written down before the finder saw them. */
export const messy: readonly Schema[] = [
  hopital,
  freight,
  starTerse,
  history,
  exportsOfPrograms,
  companies,
  lager,
  forum,
  insurer,
  escuela,
];
