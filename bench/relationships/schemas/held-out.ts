import { blank } from "./held-out/blank.ts";
import { clinic } from "./held-out/clinic.ts";
import { media } from "./held-out/media.ts";
import { scripts } from "./held-out/scripts.ts";
import { spanish } from "./held-out/spanish.ts";
import { speechless } from "./held-out/speechless.ts";
import { tiny } from "./held-out/tiny.ts";
import { twoHouses } from "./held-out/two-houses.ts";
import { university } from "./held-out/university.ts";
import { unlikeNames } from "./held-out/unlike-names.ts";
import { warehouse } from "./held-out/warehouse.ts";
import { manyTables } from "./many-tables.ts";
import type { Schema } from "./schema.ts";

/** Held out while the finder was tuned: only their score was read. */
export const heldOut: readonly Schema[] = [
  clinic,
  speechless,
  spanish,
  scripts,
  warehouse,
  university,
  twoHouses,
  tiny,
  media,
  blank,
  unlikeNames,
  manyTables({ name: "four-hundred-short", seed: 97, tables: 400, style: "short" }),
];
