import { constants } from "node:sqlite";

/**
 * Allowlist of functions. Excludes functions that write (`optimize`, `fts5`), reach outside (`load_extension`,
 * `sqlite_log`), change the library (`fts3_tokenizer`) or run their own statements (`rtreecheck`). Functions of later
 * SQLite versions need a review first.
 */
const FUNCTIONS = new Set(
  `-> ->> abs acos acosh asin asinh atan atan2 atanh avg bm25 ceil ceiling char coalesce concat concat_ws cos cosh count
  cume_dist current_date current_time current_timestamp date datetime degrees dense_rank exp first_value floor format
  geopoly_area geopoly_bbox geopoly_blob geopoly_ccw geopoly_contains_point geopoly_group_bbox geopoly_json
  geopoly_overlap geopoly_regular geopoly_svg geopoly_within geopoly_xform glob group_concat hex highlight if ifnull iif
  instr json json_array json_array_insert json_array_length json_error_position json_extract json_group_array
  json_group_object json_insert json_object json_patch json_pretty json_quote json_remove json_replace json_set json_type
  json_valid jsonb jsonb_array jsonb_array_insert jsonb_extract jsonb_group_array jsonb_group_object jsonb_insert
  jsonb_object jsonb_patch jsonb_remove jsonb_replace jsonb_set julianday lag last_value lead length like likelihood
  likely ln log log10 log2 lower ltrim match matchinfo max median min mod nth_value ntile nullif octet_length offsets
  percent_rank percentile percentile_cont percentile_disc pi pow power printf quote radians random randomblob rank
  replace round row_number rtrim sign sin sinh snippet sqlite_version sqrt strftime string_agg substr substring subtype
  sum tan tanh time timediff total trim trunc typeof unhex unicode unistr unistr_quote unixepoch unlikely upper
  zeroblob`.split(/\s+/),
);

/** Pragmas that only describe the schema. */
const PRAGMAS = new Set([
  // Full-text tables use it on every read.
  "data_version",
  "foreign_key_list",
  "index_info",
  "index_list",
  "index_xinfo",
  "table_info",
  "table_list",
  "table_xinfo",
]);

/** Authorizer callback: SQLite's parser asks about every part of a statement, and unknown actions are denied. */
export class SqliteGuard {
  /** Why a part of the statement was denied. */
  denied: string | undefined;
  /** Whether the statement reads anything. No-op statements (`reindex` without an index) trigger no authorizer call. */
  hasQuery = false;

  reset(): void {
    this.denied = undefined;
    this.hasQuery = false;
  }

  readonly judge = (action: number, first: string | null, second: string | null): number => {
    const reason = reasonToDeny(action, first, second);
    this.hasQuery ||= action === constants.SQLITE_SELECT || action === constants.SQLITE_PRAGMA;
    if (reason === undefined) return constants.SQLITE_OK;
    this.denied ??= reason;
    return constants.SQLITE_DENY;
  };
}

function reasonToDeny(action: number, first: string | null, second: string | null): string | undefined {
  switch (action) {
    case constants.SQLITE_SELECT:
    case constants.SQLITE_READ:
    case constants.SQLITE_RECURSIVE:
      return undefined;
    case constants.SQLITE_FUNCTION:
      return FUNCTIONS.has(String(second).toLowerCase()) ? undefined : `the function ${second} is not allowed`;
    case constants.SQLITE_PRAGMA:
      return PRAGMAS.has(String(first).toLowerCase()) ? undefined : `PRAGMA ${first} is not allowed`;
    default:
      return "only a SELECT can be run";
  }
}
