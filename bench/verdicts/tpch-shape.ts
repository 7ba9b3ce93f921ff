import { writeDuckDb } from "../../packages/connectors/src/testing/duckdb.ts";

/** The proportions of TPC-H at scale 0.01, without its texts: 8 tables, composite keys, a third of customers without orders. */
const TABLES = [
  "CREATE TABLE region AS SELECT i AS r_regionkey, 'R' || i AS r_name FROM range(5) t(i)",
  "CREATE TABLE nation AS SELECT i AS n_nationkey, 'N' || i AS n_name, i % 5 AS n_regionkey FROM range(25) t(i)",
  "CREATE TABLE supplier AS SELECT i AS s_suppkey, hash(i) % 25 AS s_nationkey, (hash(i, 1) % 10000)::BIGINT AS s_acctbal FROM range(1, 101) t(i)",
  "CREATE TABLE customer AS SELECT i AS c_custkey, hash(i) % 25 AS c_nationkey, (hash(i, 2) % 10000)::BIGINT AS c_acctbal, 'S' || (hash(i, 3) % 5) AS c_mktsegment FROM range(1, 1501) t(i)",
  "CREATE TABLE part AS SELECT i AS p_partkey, (hash(i) % 2000)::BIGINT AS p_retailprice, (hash(i, 4) % 50)::BIGINT AS p_size FROM range(1, 2001) t(i)",
  "CREATE TABLE partsupp AS SELECT i AS ps_partkey, 1 + (i * 7 + j * 25) % 100 AS ps_suppkey, (hash(i, j) % 9999)::BIGINT AS ps_availqty FROM range(1, 2001) t(i), range(4) u(j)",
  "CREATE TABLE orders AS SELECT i AS o_orderkey, 1 + 3 * (hash(i) % 500)::BIGINT + (hash(i, 5) % 2)::BIGINT AS o_custkey, (hash(i, 6) % 100000)::BIGINT AS o_totalprice FROM range(1, 15001) t(i)",
  "CREATE TABLE lineitem AS SELECT i AS l_orderkey, j + 1 AS l_linenumber, ps_partkey AS l_partkey, ps_suppkey AS l_suppkey, (hash(i, j, 7) % 50)::BIGINT AS l_quantity, (hash(i, j, 8) % 90000)::BIGINT AS l_extendedprice FROM range(1, 15001) t(i), range(7) u(j), (SELECT *, row_number() OVER (ORDER BY ps_partkey, ps_suppkey) AS n FROM partsupp) ps WHERE j < 1 + hash(i) % 7 AND ps.n = 1 + hash(i, j) % 8000",
];

const KEYS: Readonly<Record<string, readonly string[]>> = {
  region: ["r_regionkey"],
  nation: ["n_nationkey"],
  supplier: ["s_suppkey"],
  customer: ["c_custkey"],
  part: ["p_partkey"],
  partsupp: ["ps_partkey", "ps_suppkey"],
  orders: ["o_orderkey"],
  lineitem: ["l_orderkey", "l_linenumber"],
};

const REFERENCES: readonly (readonly [string, readonly string[], string])[] = [
  ["nation", ["n_regionkey"], "region"],
  ["supplier", ["s_nationkey"], "nation"],
  ["customer", ["c_nationkey"], "nation"],
  ["partsupp", ["ps_partkey"], "part"],
  ["partsupp", ["ps_suppkey"], "supplier"],
  ["orders", ["o_custkey"], "customer"],
  ["lineitem", ["l_orderkey"], "orders"],
  ["lineitem", ["l_partkey", "l_suppkey"], "partsupp"],
  ["lineitem", ["l_partkey"], "part"],
  ["lineitem", ["l_suppkey"], "supplier"],
];

export const TPCH = { keys: KEYS, references: REFERENCES };

export const writeTpchShape = (path: string): Promise<void> => writeDuckDb(path, TABLES);
