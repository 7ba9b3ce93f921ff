import type { openSource as open } from "./ingest/sources/open-source.ts";

// What works on a context is a hundred files, which take longer to load than most questions to answer: they are loaded when work
// begins.

export const scan: typeof import("./scan/scan.ts").scan = async (...args) =>
  (await import("./scan/scan.ts")).scan(...args);

export const planScan: typeof import("./scan/plan-scan.ts").planScan = async (...args) =>
  (await import("./scan/plan-scan.ts")).planScan(...args);

export const findJoins: typeof import("./scan/find-joins.ts").findJoins = async (...args) =>
  (await import("./scan/find-joins.ts")).findJoins(...args);

export const ingest: typeof import("./ingest/ingest.ts").ingest = async (...args) =>
  (await import("./ingest/ingest.ts")).ingest(...args);

export const planIngest: typeof import("./ingest/ingest-plan.ts").planIngest = async (...args) =>
  (await import("./ingest/ingest-plan.ts")).planIngest(...args);

/** Its readers are loaded when it is read. */
export const openSource: typeof open = (name, config, rules) => ({
  name,
  type: config.type,
  lists: "all",
  ...(config.connection && { connection: config.connection }),
  async *list(options) {
    const room = await import("./ingest/sources/open-source.ts");
    yield* room.openSource(name, config, rules).list(options);
  },
});
