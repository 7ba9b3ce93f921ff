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
  "insert into countries values ('X', 'Y') returning code",
  "select 1;; delete from orders",
  "-- select\ndelete from orders",
  "select 1 \u0000; delete from orders",
  "-- nothing",
  "update orders set total = 0 returning id",
  "drop view paid_orders",
  "delete from orders returning *",
  "with x as (select 1) delete from orders",
  "with x as (select 1) update orders set total = 0",
  "select 1 /* and */; /* then */ delete from orders",
];

/** Read-only queries that every dialect must accept. */
export const SHARED_QUERIES = [
  "select 1",
  "SELECT 1;",
  "select 1; -- the end",
  "-- first\nselect 1",
  "with x as (select * from orders) select count(*) from x",
  "with recursive n (i) as (select 1 union all select i + 1 from n where i < 10) select sum(i) from n",
  "select id, row_number() over (partition by customer_id order by total) from orders",
  "select sum(total) over w, lag(total) over w from orders window w as (order by id)",
  "select * from orders o left join customers c on c.id = o.customer_id where c.name is not null",
  "select * from customers where exists (select 1 from orders where customer_id = customers.id)",
  "select * from orders",
  "select (select count(*) from orders where customer_id = c.id) from customers c",
];
