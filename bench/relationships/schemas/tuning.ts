import { manyTables } from "./many-tables.ts";
import type { Schema } from "./schema.ts";
import { abbreviations } from "./tuning/abbreviations.ts";
import { composite } from "./tuning/composite.ts";
import { denormalised } from "./tuning/denormalised.ts";
import { empty } from "./tuning/empty-tables.ts";
import { german } from "./tuning/german.ts";
import { nameless } from "./tuning/nameless.ts";
import { naturalKeys } from "./tuning/natural-keys.ts";
import { polymorphic } from "./tuning/polymorphic.ts";
import { roles } from "./tuning/role-names.ts";
import { star } from "./tuning/star.ts";
import { traps } from "./tuning/traps.ts";

/** Schemas on which the finder was tuned. */
export const tuning: readonly Schema[] = [
  abbreviations,
  nameless,
  naturalKeys,
  composite,
  german,
  roles,
  polymorphic,
  traps,
  star,
  empty,
  denormalised,
  manyTables({ name: "four-hundred", seed: 41, tables: 400, style: "modules" }),
];
