import { DuckDBInstance, type DuckDBConnection } from "@duckdb/node-api";

/**
 * A file that cannot be written to, in a database that reaches nothing else: no other file, no network, no extension. What
 * does not fit into memory is not put beside the file either.
 */
const SETTINGS = {
  access_mode: "READ_ONLY",
  // Before the next one, which forbids to set it.
  temp_directory: "",
  enable_external_access: "false",
  autoload_known_extensions: "false",
  autoinstall_known_extensions: "false",
  allow_community_extensions: "false",
  allow_unsigned_extensions: "false",
  memory_limit: "2GB",
  threads: "4",
};

/** A zone can be set only when it is open. After that, nothing can. */
const LAST_SETTINGS = "set global TimeZone = 'UTC'; set global lock_configuration = true";

/** Without any judge of queries, too, nothing could be written. */
export async function openFile(path: string): Promise<DuckDBConnection> {
  const instance = await DuckDBInstance.create(path, SETTINGS);
  const connection = await instance.connect();
  await connection.run(LAST_SETTINGS);
  return connection;
}
