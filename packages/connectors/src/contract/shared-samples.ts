/** Expected values of the first row of the sample's `orders`, for dialects with all its types. */
export const SAMPLE_ORDER = {
  id: 1,
  customer_id: 1,
  country_region: "EU",
  country_code: "DE",
  total: "12345678901234.5678",
  big: "9007199254740993",
  placed: "2024-02-29T12:30:15.5Z",
  day: "2024-02-29",
  raw: "\\x00ff10",
  paid: true,
};

/** Writes that every dialect of a server and DuckDB have. */
export const SHARED_WRITES = [
  "insert into customers (id, name) values (9, 'x')",
  "update customers set name = 'x'",
  "delete from orders",
  "truncate orders",
  "drop table orders",
  "create table x (a int)",
  "alter table orders add column x int",
  "create table x as select * from orders",
];

/** Statements that every dialect must reject. */
export const SHARED_ATTEMPTS = [
  "insert into customers select * from customers",
  "select 1; delete from orders",
  "select 1; select 2",
  "select 1; -- and\n delete from orders",
  "/* select */ delete from orders",
  "; delete from orders",
  "explain delete from orders",
  "begin",
  "commit",
  "rollback",
  "create view x as select 1",
  "",
  ";",
];
