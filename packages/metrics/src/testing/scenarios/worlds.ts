import { BILLING } from "./billing.ts";
import { INVENTORY } from "./inventory.ts";
import { CALENDAR } from "./calendar.ts";
import { LOGISTICS } from "./logistics.ts";
import { MESSY } from "./messy.ts";
import { PEOPLE } from "./people.ts";
import type { World } from "./scenario.ts";

export const WORLDS: readonly World[] = [BILLING, INVENTORY, LOGISTICS, PEOPLE, CALENDAR, MESSY];
