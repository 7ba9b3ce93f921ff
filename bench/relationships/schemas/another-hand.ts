import { bareNames } from "./another-hand/bare-names.ts";
import { bins } from "./another-hand/bins.ts";
import { filePrefixes } from "./another-hand/file-prefixes.ts";
import { league } from "./another-hand/league.ts";
import { nothing } from "./another-hand/nothing.ts";
import { tenants } from "./another-hand/multi-tenant.ts";
import type { Schema } from "./schema.ts";

/**
 * Schemas by an author who had not read the finder, to see where it fails. This is the selection that found most defects; their
 * general causes were fixed afterwards.
 */
export const anotherHand: readonly Schema[] = [tenants, filePrefixes, bareNames, bins, league, nothing];
