export { sql, type Sql } from "../sql-statement.ts";
export { PostgresServer, type Execute } from "./postgres-server.ts";
