import { expect, it } from "vitest";
import { columnKind } from "./column-kind.ts";

it.each([
  [
    "integer",
    "integer INT bigint smallint int(11) bigint(20)_unsigned serial UBIGINT HUGEINT int8 mediumint year tinyint(4)",
  ],
  ["decimal", "numeric(10,2) DECIMAL(18,4) double_precision real money float float8 NUMBER"],
  ["text", "text varchar(20) character_varying(5) char(2) longtext enum('a') citext NVARCHAR(9) string"],
  ["boolean", "boolean bool tinyint(1) bit(1)"],
  ["date", "date DATE"],
  ["time", "timestamp_with_time_zone datetime(3) time TIMESTAMP_NS timestamptz"],
  ["uuid", "uuid UUID uniqueidentifier"],
  ["json", "json jsonb"],
  ["binary", "bytea BLOB varbinary(10) bit(3) longblob"],
  ["other", "interval point integer[] INTEGER[] geometry STRUCT(a_INTEGER) tsvector inet int4range"],
])("%s: %s", (kind, types) => {
  const wrong = types.split(" ").filter((type) => columnKind(type.replaceAll("_", " ")) !== kind);
  expect(wrong).toEqual([]);
});
