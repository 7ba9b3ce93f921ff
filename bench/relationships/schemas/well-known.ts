import type { Schema } from "./schema.ts";
import { blog } from "./well-known/blog.ts";
import { payroll } from "./well-known/payroll.ts";
import { personnel } from "./well-known/personnel.ts";
import { questions } from "./well-known/question-site.ts";
import { races } from "./well-known/races.ts";
import { rentals } from "./well-known/rentals.ts";
import { scaleModels } from "./well-known/scale-models.ts";
import { world } from "./well-known/world.ts";

/** Modelled on well-known schemas, with invented rows. First measured after the tuning. */
export const wellKnown: readonly Schema[] = [personnel, scaleModels, questions, blog, rentals, world, races, payroll];
