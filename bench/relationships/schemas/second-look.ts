import { airline } from "./second-look/airline.ts";
import { branches } from "./second-look/branches.ts";
import { meters } from "./second-look/meters.ts";
import { opaque } from "./second-look/opaque.ts";
import { payrollOffice } from "./second-look/payroll-office.ts";
import { sklep } from "./second-look/sklep.ts";
import type { Schema } from "./schema.ts";

/** Written after the finder was changed for the messy ones. */
export const secondLook: readonly Schema[] = [airline, sklep, branches, opaque, payrollOffice, meters];
