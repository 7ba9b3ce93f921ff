import { DuckDBInstance, type DuckDBConnection } from "@duckdb/node-api";

/**
 * Opens the file read-only, without access to other files, the network or extensions. Temporary data is not spilled
 * beside the file either.
 */
const SETTINGS = {
  access_mode: "READ_ONLY",
  // Must come before the next setting, which locks it.
  temp_directory: "",
  enable_external_access: "false",
  autoload_known_extensions: "false",
  autoinstall_known_extensions: "false",
  allow_community_extensions: "false",
  allow_unsigned_extensions: "false",
  memory_limit: "2GB",
  threads: "4",
};

/** The time zone can be set only after opening; then the configuration is locked. */
const LAST_SETTINGS = "set global TimeZone = 'UTC'; set global lock_configuration = true";

/** Blocks writes even without the query check. */
export async function openFile(path: string): Promise<DuckDBConnection> {
  const instance = await DuckDBInstance.create(path, SETTINGS);
  const connection = await instance.connect();
  await connection.run(LAST_SETTINGS);
  return connection;
}
