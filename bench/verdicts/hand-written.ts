import type { Dialect } from "@tandem/connectors";

/** Statements on the demo's kind of schema: orders, lines, payments, customers. `[dialects]` limits those that not all can parse. */
const ALL = `
select count(*) from orders
select status, count(*) from orders group by status
select status, count(*) n from orders group by 1 order by n desc limit 5
select sum(l.amount_cents) from lines l join orders o on o.id = l.order_id
select c.segment, sum(l.amount_cents) from customers c join orders o on o.customer_id = c.id join lines l on l.order_id = o.id group by c.segment
select c.segment, count(distinct o.id) from customers c left join orders o on o.customer_id = c.id group by c.segment having count(*) > 1
with a as (select order_id, sum(amount_cents) s from lines group by order_id), b as (select avg(s) m from a) select * from a cross join b where a.s > b.m
with a as (select * from orders), b as (select id, status from a), c as (select count(*) n from b) select n from c
select * from orders natural join payments
select order_id, sum(cents) from payments join lines using (order_id) group by order_id
select id, sum(id) over (partition by customer_id order by id) from orders
select id, row_number() over (partition by customer_id order by ordered_at desc) n from orders
select * from (select id, customer_id, rank() over (order by id) r from orders) x where r <= 3
select (select max(id) from orders) as newest
select o.id, (select sum(amount_cents) from lines l where l.order_id = o.id) total from orders o
select o.id from orders o where exists (select 1 from payments p where p.order_id = o.id)
select o.id from orders o where o.id not in (select order_id from payments where order_id is not null)
select id from orders union select order_id from payments
select 'a' k, count(*) n from orders union all select 'b', count(*) from payments
select id from orders intersect select order_id from payments
select id from orders except select order_id from payments
select a.id, b.id from customers a join customers b on b.referred_by = a.id
select a.name, r.name from orders o join regions a on a.id = o.ship_to join regions r on r.id = o.bill_to
select count(*) from orders o, lines l where l.order_id = o.id and o.status = 'done'
select case when status = 'done' then 1 else 0 end d, count(*) from orders group by case when status = 'done' then 1 else 0 end
select sum(case when o.status = 'done' then l.amount_cents else 0 end) from orders o join lines l on l.order_id = o.id
select coalesce(c.segment, 'none') s, count(*) from orders o left join customers c on c.id = o.customer_id group by coalesce(c.segment, 'none')
select min(ordered_at), max(ordered_at) from orders
select avg(n) from (select order_id, count(*) n from lines group by order_id) x
select x.n, count(*) from (select customer_id, count(*) n from orders group by customer_id) x group by x.n
select distinct customer_id from orders where status in ('done', 'open')
select o.id from orders o join (select order_id, max(paid_at) m from payments group by order_id) p on p.order_id = o.id
select sum(o.id), count(p.id) from orders o left join payments p on p.order_id = o.id
select o.status, sum(p.cents) / count(distinct o.id) from orders o join payments p on p.order_id = o.id group by o.status
select 100.0 * sum(case when status = 'cancelled' then 1 else 0 end) / count(*) from orders
select * from orders where id = 1
select o.*, c.name from orders o left join customers c on c.id = o.customer_id limit 10
select upper(name), lower(segment), length(name) from customers where name like 'A%'
select customer_id, count(*) from orders where ordered_at >= '2026-01-01' and ordered_at < '2026-02-01' group by customer_id
select r.name, count(*) from customers c join regions r on r.id = c.region_id group by r.name order by 2 desc
select count(*) from (orders o join lines l on l.order_id = o.id) join customers c on c.id = o.customer_id
select p.order_id, sum(p.cents) from payments p group by p.order_id having sum(p.cents) > (select avg(cents) from payments)
select t.day, sum(t.on_hand) from stock t group by t.day
select a.day, a.on_hand - b.on_hand from stock a join stock b on b.product = a.product and b.day < a.day
select lag(on_hand) over (partition by product order by day) from stock
select sum(on_hand) from stock s where day = (select max(day) from stock)
with t as (select product, max(day) d from stock group by product) select sum(s.on_hand) from stock s join t on t.product = s.product and t.d = s.day
select count(distinct customer_id), count(customer_id) from orders
select abs(sum(cents)) from payments where cents between 1 and 1000`;

const SOME: readonly [readonly Dialect[], string][] = [
  [["postgres", "duckdb", "sqlite"], "select count(*) filter (where status = 'done') from orders"],
  [["postgres", "duckdb"], "select date_trunc('month', ordered_at::timestamp) m, count(*) from orders group by 1"],
  [
    ["postgres", "duckdb"],
    "select distinct on (customer_id) customer_id, id from orders order by customer_id, id desc",
  ],
  [
    ["postgres", "duckdb"],
    "select o.id, x.s from orders o left join lateral (select sum(amount_cents) s from lines l where l.order_id = o.id) x on true",
  ],
  [["postgres", "duckdb"], "select status, count(*) from orders group by rollup(status)"],
  [
    ["postgres", "duckdb"],
    "select status, customer_id, count(*) from orders group by grouping sets ((status), (customer_id))",
  ],
  [
    ["postgres", "duckdb"],
    "select g.n, count(o.id) from generate_series(1, 10) g(n) left join orders o on o.id = g.n group by g.n",
  ],
  [
    ["postgres", "duckdb"],
    "select v.k, count(*) from (values (1, 'a'), (2, 'b')) v(id, k) join orders o on o.id = v.id group by v.k",
  ],
  [["postgres", "duckdb"], "select string_agg(name, ', ' order by name) from customers"],
  [["postgres", "duckdb"], "select percentile_cont(0.5) within group (order by cents) from payments"],
  [["duckdb"], "select * from orders qualify row_number() over (partition by customer_id order by id) = 1"],
  [["duckdb"], "select status, count(*) from orders group by all order by all"],
  [["duckdb"], "from orders select count(*)"],
  [["duckdb"], "select * exclude (status) from orders"],
  [["duckdb"], "select o.id from orders o semi join payments p on p.order_id = o.id"],
  [["mysql"], "select date_format(ordered_at, '%Y-%m') m, count(*) from orders group by m"],
  [["mysql"], "select status, count(*) from orders group by status with rollup"],
  [["mysql"], "select group_concat(name order by name separator ',') from customers"],
  [["mysql"], "select if(status = 'done', 1, 0) d, count(*) from `orders` group by d"],
  [["mysql"], "select o.id from orders o force index (primary) join lines l on l.order_id = o.id"],
  [["sqlite"], "select strftime('%Y-%m', ordered_at) m, count(*) from orders group by m"],
  [["sqlite"], "select total(cents), group_concat(order_id) from payments"],
  [["sqlite"], "select iif(status = 'done', 1, 0), count(*) from orders group by 1"],
  [
    ["sqlite", "postgres"],
    "with recursive r(n) as (select 1 union all select n + 1 from r where n < 5) select count(*) from r",
  ],
];

export const handWritten = (dialect: Dialect): string[] => [
  ...ALL.trim().split("\n"),
  ...SOME.flatMap(([dialects, sql]) => (dialects.includes(dialect) ? [sql] : [])),
];
