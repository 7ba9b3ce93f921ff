import { serveReader } from "../reader/serve-reader.ts";
import { SqliteReader } from "./sqlite-reader.ts";

await serveReader((path) => new SqliteReader(path));
