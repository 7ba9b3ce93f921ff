import { serveReader } from "../reader/serve-reader.ts";
import { DuckdbReader } from "./duckdb-reader.ts";

await serveReader((path) => DuckdbReader.open(path));
