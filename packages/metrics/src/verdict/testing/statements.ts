/** Each line repeats rows of an aggregate for some data. `[dialects]` limits it to these. */
export const REPEATED = `
select sum(o.ship_to) from orders o join lines l on l.order_id = o.id join customers c on c.id = o.customer_id
select c.segment, count(*) from customers c join orders o on o.customer_id = c.id join lines l on l.order_id = o.id join payments p on p.order_id = o.id group by c.segment
select sum(p.cents), sum(l.amount_cents) from orders o join payments p on p.order_id = o.id join lines l on l.order_id = o.id
select sum(p.cents) from payments p join orders o on o.id = p.order_id join lines l on l.order_id = o.id
select avg(c.region_id) from customers c left join orders o on o.customer_id = c.id
select sum(r.id) from regions r join customers c on c.region_id = r.id
select sum(r.id) from regions r left join orders o on o.ship_to = r.id or o.bill_to = r.id
select sum(o.id) from orders o join lines l on l.order_id = o.id and l.line > 0
select sum(o.id) from orders o left join lines l on l.order_id = o.id and l.product = 'tea'
select sum(o.id) from orders o, lines l where o.id = l.order_id and l.product = 'tea'
select sum(o.id) from orders o inner join lines l on o.id = l.order_id where l.line in (1, 2)
select sum(o.id) from orders o cross join regions r
select sum(o.id) from orders o join regions r on r.id > 0
select sum(o.id) from orders o join regions r on r.id = o.ship_to or r.id = o.bill_to
select sum(o.id) from orders o join customers c on c.name = o.status
select sum(a.id) from customers a join customers b on b.referred_by = a.id
select sum(a.id) from customers a join customers b on b.region_id = a.region_id
select sum(o.id) from orders o join (select order_id from lines) l on l.order_id = o.id
select sum(o.id) from orders o join (select order_id, product from lines group by order_id, product) l on l.order_id = o.id
select sum(o.id) from orders o join (select distinct order_id, product from lines) l on l.order_id = o.id
select sum(o.id) from orders o join (select order_id, line, max(amount_cents) m from lines group by order_id, line) l on l.order_id = o.id
select sum(o.id) from orders o left join (select order_id, paid_at from payments where cents > 0) p on p.order_id = o.id
with l as (select order_id, amount_cents from lines) select sum(o.id) from orders o join l on l.order_id = o.id
with a as (select o.id, o.customer_id from orders o join lines l on l.order_id = o.id) select count(id) from a
with a as (select o.id, o.customer_id from orders o join lines l on l.order_id = o.id), b as (select customer_id, count(*) n from a group by customer_id) select sum(c.id) from customers c join a on a.customer_id = c.id
with a as (select customer_id, id from orders), b as (select customer_id, count(*) n from orders group by customer_id) select sum(b.n) from a join b on b.customer_id = a.customer_id
with totals as (select order_id, sum(amount_cents) s from lines group by order_id) select sum(t.s) from totals t join payments p on p.order_id = t.order_id
select sum(x.s) from (select order_id, sum(cents) s from payments group by order_id) x join lines l on l.order_id = x.order_id
select sum(x.id) from (select o.id from orders o join payments p on p.order_id = o.id) x
select count(x.id) from (select o.id, p.cents from orders o left join payments p on p.order_id = o.id) x
select sum(id) from (select o.id, o.status from orders o join lines l on l.order_id = o.id where l.line = 2 or l.line = 1) x
select sum(x.id + 1) from (select o.id, l.line from orders o join lines l on l.order_id = o.id union all select id, 0 from orders) x
select sum(n) from (select id n from orders union all select id from orders where status = 'done') x
select sum(n) from (select id n from customers union all select customer_id from orders) x join regions r on r.id > x.n
select sum(o.id) over (partition by o.status) from orders o join lines l on l.order_id = o.id
select o.id, sum(o.ship_to) over () from orders o join lines l on l.order_id = o.id
select sum(o.id), max(l.line) from orders o join lines l on l.order_id = o.id group by o.status having count(*) > 1
select status from orders o join lines l on l.order_id = o.id group by status having sum(o.id) > 10
select status from orders o join lines l on l.order_id = o.id group by status order by sum(o.id) desc
select o.status, sum(o.id) / count(distinct o.id) from orders o join lines l on l.order_id = o.id group by o.status
select sum(distinct o.ship_to) from orders o join lines l on l.order_id = o.id
select sum(o.ship_to * 1.0) / count(*) from orders o join payments p on p.order_id = o.id
select round(avg(o.ship_to), 2) from orders o join payments p on p.order_id = o.id
select coalesce(sum(o.id), 0) + coalesce(sum(p.cents), 0) from orders o left join payments p on p.order_id = o.id
select case when sum(o.id) > 5 then 1 else 0 end from orders o join lines l on l.order_id = o.id
select sum(case when o.status = 'done' then o.id else 0 end) from orders o join lines l on l.order_id = o.id
select (select sum(o.id) from orders o join lines l on l.order_id = o.id) as total
select c.id, (select sum(o.id) from orders o join lines l on l.order_id = o.id where o.customer_id = c.id) t from customers c
select c.id from customers c where c.id < (select sum(o.id) from orders o join lines l on l.order_id = o.id)
select count(*) from orders o where o.id in (select sum(o2.id) from orders o2 join lines l on l.order_id = o2.id group by o2.status)
select sum(o.id) from orders o join lines l on l.order_id + 0 = o.id
select sum(o.id) from orders o join lines l on cast(l.order_id as char(10)) = cast(o.id as char(10))
select sum(o.id) from orders o join lines l on abs(l.order_id) = o.id
select sum(o.id) from orders o join lines l on coalesce(l.order_id, 0) = o.id
select sum(l.amount_cents) from lines l join stock s on s.product = l.product
select sum(l.amount_cents) from lines l join stock s on s.product = l.product and s.day <> '2026-01-01'
select sum(l.amount_cents) from lines l join stock s on s.product = l.product and s.day = '2026-01-01' or s.on_hand = 1
select sum(s.on_hand) from stock s join stock t on t.product = s.product
select sum(s.on_hand) from stock s join stock t on t.day = s.day
select sum(s.on_hand) from stock s join stock t on t.product = s.product and t.day <= s.day
select sum(p.cents) from payments p join payments q on q.order_id = p.order_id
select sum(p.cents) from payments p join payments q on q.order_id = p.order_id and q.id <> p.id
select sum(p.cents) from payments p join payments q on q.order_id = p.order_id and q.id < p.id
select sum(o.id) from customers c join orders o on o.customer_id = c.id join customers d on d.referred_by = c.id
select count(distinct o.id), sum(o.ship_to) from orders o join lines l on l.order_id = o.id
select count(o.id) from orders o left join payments p on p.order_id = o.id left join lines l on l.order_id = o.id
select sum(l.amount_cents) from lines l left join payments p on p.order_id = l.order_id
select sum(l.amount_cents) from lines l join orders o on o.id = l.order_id join payments p on p.order_id = o.id where p.cents > 0
select sum(o.id) from orders o join (select order_id from payments union all select order_id from lines) x on x.order_id = o.id
select sum(o.id) from orders o join (select order_id, 'p' k from payments group by order_id union all select order_id, 'l' from lines group by order_id) x on x.order_id = o.id
select sum(o.id) from orders o join (select order_id, row_number() over (partition by order_id order by line) n from lines) x on x.order_id = o.id and x.n <= 2
select sum(o.id) from orders o join (select order_id, row_number() over (order by line) n from lines) x on x.order_id = o.id
select sum(o.id) from orders o join (select order_id, rank() over (partition by order_id order by amount_cents) n from lines) x on x.order_id = o.id and x.n = 1
select sum(o.id) from orders o join (select order_id, row_number() over (partition by order_id, product order by line) n from lines) x on x.order_id = o.id and x.n = 1
select sum(o.id) from orders o join lines l on l.order_id = o.id where l.line = (select min(line) from lines)
select sum(o.id) from orders o join lines l on l.order_id = o.id where exists (select 1 from payments p where p.order_id = o.id)
select o.customer_id, sum(o.id) from orders o join lines l on l.order_id = o.id group by o.customer_id, o.id
select o.id, sum(o.ship_to) from orders o join lines l on l.order_id = o.id group by o.id
select count(*), sum(o.id) from (select * from orders) o join (select * from lines) l on l.order_id = o.id
select sum(id) from orders join lines on order_id = id
select sum(ship_to) from orders join lines on lines.order_id = orders.id join regions on regions.id = orders.bill_to
select sum(o.id) from lines l right join orders o on o.id = l.order_id
select sum(o.id) from lines l right join orders o on o.id = l.order_id and o.ship_to = 1
select sum(o.id) from lines l join payments p on p.order_id = l.order_id and l.line = 1 right join orders o on o.id = l.order_id
[duckdb postgres sqlite] select sum(o.id) from orders o full join lines l on l.order_id = o.id
[duckdb postgres sqlite] select sum(o.id) filter (where o.status = 'done') from orders o join lines l on l.order_id = o.id
[duckdb postgres] select sum(o.id) from orders o, lateral (select * from lines l where l.order_id = o.id) x
[duckdb postgres] select sum(o.id) from orders o left join lateral (select p.cents from payments p where p.order_id = o.id) x on true
[duckdb postgres] select sum(x.id) from (select distinct on (o.id, l.line) o.id, l.line from orders o join lines l on l.order_id = o.id) x
[duckdb postgres] select sum(o.id) from orders o join (select distinct on (order_id, product) order_id, product from lines) l on l.order_id = o.id
[duckdb postgres] select o.status, sum(o.id) from orders o join lines l on l.order_id = o.id group by rollup(o.status)
[duckdb postgres] select o.status, l.product, sum(o.id) from orders o join lines l on l.order_id = o.id group by grouping sets ((o.status), (l.product))
[duckdb postgres] select o.status, l.product, sum(o.id) from orders o join lines l on l.order_id = o.id group by cube(o.status, l.product)
[duckdb postgres] select sum(o.id) from orders o join unnest(array[1, 1, 2]) as u(x) on u.x = o.id
[duckdb postgres] select sum(o.id) from orders o cross join generate_series(1, 3) g
[duckdb postgres] select sum(o.id) from orders o join (values (1, 'a'), (1, 'b')) v(id, k) on v.id = o.id
[postgres] select sum(o.id) from orders o, unnest(string_to_array(o.status, ',')) u
[postgres] select array_agg(o.id), string_agg(o.status, ',') from orders o join lines l on l.order_id = o.id
[postgres] select sum(o.id) from orders o join lateral (select line from lines l where l.order_id = o.id fetch first 2 rows only) x on true
[postgres] select sum(o.id) from only orders o join lines l on l.order_id = o.id
[postgres] select corr(o.id, o.ship_to), regr_count(o.id, o.ship_to) from orders o join lines l on l.order_id = o.id
[postgres] with x as materialized (select o.* from orders o join lines l on l.order_id = o.id) select sum(x.id) from x
[postgres] select sum((o).id) from orders o join lines l on l.order_id = o.id
[postgres] table orders
[duckdb] select sum(o.id) from orders o join lines l on l.order_id = o.id qualify row_number() over (partition by o.id) >= 1
[duckdb] select sum(id) from (select o.id from orders o join lines l on l.order_id = o.id qualify row_number() over (partition by o.id order by l.line) <= 2) x
[duckdb] from orders o join lines l on l.order_id = o.id select sum(o.id)
[duckdb] select sum(o.id) from orders o positional join lines l
[duckdb] select sum(o.id) from orders o asof join payments p on p.order_id = o.id and p.paid_at >= o.ordered_at join lines l on l.order_id = o.id
[duckdb] select sum(columns('id')) from orders o join lines l on l.order_id = o.id
[duckdb] select list(o.id), median(o.id), approx_count_distinct(l.line), sum(o.id) from orders o join lines l on l.order_id = o.id
[duckdb] select o.status, sum(o.id) from orders o join lines l on l.order_id = o.id group by all
[mysql] select straight_join sum(o.id) from orders o join lines l on l.order_id = o.id
[mysql] select group_concat(o.id), sum(o.id) from orders o join lines l on l.order_id = o.id
[mysql] select o.status, sum(o.id) from orders o join lines l on l.order_id = o.id group by o.status with rollup
[mysql] select sum(o.id) from orders o use index (ix) join lines l on l.order_id = o.id
[mysql] select sum(o.id) from orders o join lines l on l.order_id <=> o.id
[mysql] select bit_xor(o.id), std(o.id) from orders o join lines l on l.order_id = o.id
[mysql] select sum(o.id) from (orders o, regions r) join lines l on l.order_id = o.id
[sqlite] select total(o.id) from orders o join lines l on l.order_id = o.id
[sqlite] select sum(o.id) from orders o join lines l indexed by ix on l.order_id = o.id
[sqlite] select sum(o.id) from orders o join lines l on l.order_id is o.id
[sqlite] select group_concat(o.id) from orders o join lines l on l.order_id = o.id
[sqlite] select sum(o.id) from orders o, json_each('[1,2]') j
select sum(v) from (select o.id v, l.line k from orders o left join lines l on l.order_id = o.id and l.line = 1 union all select o.id, l.line from orders o left join lines l on l.order_id = o.id and l.line = 2) x
select sum(v) from (select o.id v, l.line k from lines l right join orders o on l.order_id = o.id and l.line = 1 union all select o.id, l.line from lines l right join orders o on l.order_id = o.id and l.line = 2) x
select sum(x.order_id) from lines x right join payments p on p.order_id = x.order_id and x.line = 1
select sum(v) from (select o.id v from orders o join regions r on r.id = 1 union all select o.id from orders o join regions r on r.id = 2) x
select sum(v) from (select o.id v from orders o join lines l on l.order_id = o.id and l.line = 1 union all select o.id from orders o join lines l on l.order_id = o.id and l.line = 2) x
select sum(v) from (select o.id v from orders o join customers c on c.id = o.customer_id where c.segment = 'home' union all select o.id from orders o join customers c on c.id = o.ship_to where c.segment = 'office') x
select sum(v) from (select cents v, 'a' k from payments union all select cents, 'a' from payments) x
select sum(v) from (select o.id v from orders o where o.status = 'done' union all select o.id from orders o where o.customer_id = 1) x
select sum(o.id) from orders o join lines l on l.order_id = o.id group by l.product
select l.product, count(o.id) from orders o join lines l on l.order_id = o.id group by l.product
select sum(c.region_id) from orders o join customers c on c.id = o.customer_id
select count(c.id), count(r.id) from customers c join regions r on r.id = c.region_id
select sum(r.id) from orders o join regions r on r.id = o.ship_to
select avg(o.ship_to) from lines l join orders o on o.id = l.order_id
select sum(v) from (select cents v from payments where order_id = 1 union all select cents from payments where order_id = 1.0) x
select sum(v) from (select cents v from payments where order_id = 1 union all select cents from payments where order_id = '1') x
select sum(v) from (select cents v from payments where order_id = 1 union all select cents from payments where order_id = 01) x
select sum(v) from (select id v from orders where status = 'done' union all select id from orders where status = 'DÖNE') x
select sum(v) from (select id v from orders where status = 'done' union all select id from orders where status = 'DONE') x
select sum(v) from (select id v from orders where status = 'done' union all select id from orders where status = 'done ') x
select sum(v) from (select id v from customers where is_test = true union all select id from customers where is_test = 1) x
select sum(v) from (select id v from orders where ordered_at = '2026-01-01' union all select id from orders where ordered_at = '2026-01-01 00:00:00') x
select sum(v) from (select id v from orders where status = 'done' or id = 1 union all select id from orders where status = 'open' or id = 1) x
select sum(v) from (select id v from orders where not status = 'done' union all select id from orders where status = 'open') x
select sum(p.cents) from payments p join (select id / 2 as id from orders) x on x.id = p.order_id
select sum(p.cents) from payments p join (select abs(id) as id from orders) x on x.id = p.order_id
select sum(p.cents) from payments p join (select id - id as id from orders) x on x.id = p.order_id
select sum(o.id) from orders o join (select line as order_id, count(*) n from lines group by order_id, line) x on x.order_id = o.id
select sum(o.id) from orders o join (select line as k, count(*) n from lines group by order_id) x on x.k = o.id
select sum(o.id) from orders o join lines l on l.order_id = o.id and l.line = 1 or l.line = 2
select sum(o.id) from orders o join lines l on l.order_id = o.id and (l.line = 1 or l.line = 2)
select sum(o.id) from orders o join lines l on l.order_id = o.id and l.line in (1, 2)
select sum(o.id) from orders o join lines l on l.order_id = o.id and not l.line = 1
select sum(o.id) from orders o join lines l on l.order_id = o.id and l.line <> 1
select sum(o.id) from orders o join lines l on l.order_id = o.id and l.line >= 1
select sum(o.id) from orders o join lines l on l.order_id = o.id and l.line between 1 and 3
select sum(o.id) from orders o join lines l on l.order_id = o.id and l.line = l.line
select sum(o.id) from orders o join lines l on l.order_id = o.id and l.line = l.line + 0
select sum(o.id) from orders o join lines l on l.order_id = o.id and l.line = (select m.line from lines m where m.amount_cents = l.amount_cents and m.order_id = 1 limit 1)
select sum(o.id) from orders o join lines l on l.order_id = o.id and l.line = (select max(p.id) from payments p where p.cents = l.amount_cents)
select sum(o.id) from orders o join lines l on l.order_id = o.id where l.line = (select max(p.id) from payments p where p.cents < l.amount_cents)
[duckdb postgres sqlite] select sum(o.id) from orders o join lines l on l.order_id = o.id and l.line = random()
[mysql] select sum(o.id) from orders o join lines l on l.order_id = o.id and l.line = floor(rand() * 3)
[duckdb postgres] select sum(o.id) from orders o join lines l on l.order_id = o.id and l.line = cast(random() * 3 as integer)
[mysql sqlite] select sum(o.id) from orders o cross join (select id from payments limit 1, 2) p
select sum(o.id) from orders o cross join (select id from payments limit 2 offset 1) p
[postgres] select sum(o.id) from orders o cross join (select id from payments limit all) p
[postgres] select sum(o.id) from orders o cross join (select id from payments limit null) p
[postgres] select sum(o.id) from orders o cross join (select id from payments limit (select 2)) p
[duckdb postgres] select sum(o.id) from orders o cross join (select count(*) n from lines group by grouping sets ((), ())) x
select sum(o.id) from orders o cross join (select max(id) m from payments union all select 1) x
select sum(o.id) from orders o, (select 1 a union all select 1) x
[duckdb postgres] select sum(v) from (select o.id v, unnest(array[1, 2]) u from orders o) x
[postgres] select sum(v) from (select o.id v, generate_series(1, 3) u from orders o) x
[postgres] select sum(v) from (select o.id v, regexp_split_to_table(o.status, ',') u from orders o) x
[postgres] select sum(v) from (select o.id v, jsonb_array_elements('[1,2]'::jsonb) u from orders o) x
[duckdb] select sum(v) from (select o.id v, unnest([1, 2]) u from orders o) x
[duckdb] select sum(v) from (select o.id v, generate_subscripts([1, 2], 1) u from orders o) x
[duckdb postgres] select sum(o.id) from orders o join (select order_id, product, sum(amount_cents) s from lines group by rollup(order_id, product)) x on x.order_id = o.id
[mysql] select sum(o.id) from orders o join (select order_id, product, sum(amount_cents) s from lines group by order_id, product with rollup) x on x.order_id = o.id
select sum(o.id) from orders o join (select distinct order_id, row_number() over (order by line) n from lines) x on x.order_id = o.id
select max(s) from (select l.product, sum(o.id) s from orders o join lines l on l.order_id = o.id group by l.product) x
select l.product, sum(sum(o.id)) over () from orders o join lines l on l.order_id = o.id group by l.product
select sum(p.cents) from payments p join orders o on o.id = p.order_id join customers c on c.id = o.customer_id or c.id = 1
select sum(c.id) from customers c natural join regions
select sum(o.id) from orders o join customers c on true
select sum(o.id) from orders o join customers c on 1 = 1
select sum(o.id) from orders o join customers c on c.id = c.id
select sum(o.id) from orders o join customers c on o.customer_id = o.customer_id
select sum(o.id) from orders o join customers c on c.id = 1 or o.customer_id = c.id
select sum(o.id) from orders o join customers c on o.customer_id = c.id or o.customer_id is null
[mysql] select sum(o.id) from orders o full join lines l on l.order_id = o.id
[mysql] select sum(o.id) from orders o join customers c on c.id = o.customer_id xor c.id = 2
[postgres] select sum(o.id) from orders o join lines l on l.order_id = o.id tablesample bernoulli (10)
[postgres] select sum(o.id) from (orders o join lines l on l.order_id = o.id) as j
[postgres] select sum(j.id) from (orders o join lines l on l.order_id = o.id) as j
[postgres] select sum(o.id) from rows from (generate_series(1, 2), generate_series(1, 3)) as g(a, b) join orders o on true
[postgres] with x as (insert into regions values (9, 'x') returning id) select sum(o.id) from orders o, x
with recursive n (i) as (select 1 union all select i + 1 from n where i < 3) select sum(o.id) from orders o cross join n
with recursive t (id, up) as (select id, referred_by from customers union all select t.id, c.referred_by from t join customers c on c.id = t.up) select sum(t.id) from t
with x as (select o.id, o.ship_to from orders o), y as (select x.ship_to from x join lines l on l.order_id = x.id) select sum(ship_to) from y
with x as (select o.id k, max(l.line) m from orders o join lines l on l.order_id = o.id group by o.id), y as (select x.k from x join payments p on p.order_id = x.k) select sum(k) from y
select sum(x.total) from (select o.id, (select sum(l.amount_cents) from lines l where l.order_id = o.id) total from orders o) x join payments p on p.order_id = x.id
select sum(t.s) / count(*) from (select order_id, sum(amount_cents) s from lines group by order_id) t left join payments p on p.order_id = t.order_id
select count(*) filter_me from orders o join lines l on l.order_id = o.id join payments p on p.order_id = o.id
select sum(p.cents) from payments p join (select order_id, min(line) line from lines group by order_id, product) l on l.order_id = p.order_id
select sum(nullif(o.ship_to, l.line)) from orders o join lines l on l.order_id = o.id
select sum(o.ship_to + l.line) - sum(l.line) from orders o join lines l on l.order_id = o.id
select sum(case when exists (select 1 from payments p where p.order_id = o.id) then o.ship_to end) from orders o join lines l on l.order_id = o.id
select sum(o.id) from orders o join (select distinct order_id, amount_cents > 5 as b from lines) x on x.order_id = o.id
select sum(o.id) from orders o left join (select order_id, max(id) id from payments group by order_id, cents) x on x.order_id = o.id
select avg(x.s) from (select o.customer_id, l.order_id, sum(o.ship_to) s from orders o join lines l on l.order_id = o.id group by o.customer_id, l.order_id) x
select sum(x.v) from (select o.ship_to v, l.line from orders o left join lines l on l.order_id = o.id limit 10) x
select sum(n) from (select o.id, count(*) over (partition by o.id) n from orders o join lines l on l.order_id = o.id) x
select count(x.id) from (select c.id from customers c join orders o on o.customer_id = c.id group by c.id, o.id) x
with t as (select o.id, o.ship_to, l.product from orders o join lines l on l.order_id = o.id) select product, sum(ship_to) from t group by product
select sum(a.on_hand) from stock a join stock b on b.product = a.product and b.day = (select min(day) from stock c where c.on_hand = b.on_hand)
[postgres] select sum(p.cents) from payments p join (select order_id from lines intersect all select order_id from payments) x on x.order_id = p.order_id
[postgres] select sum(p.cents) from payments p join (select order_id from lines except all select 0) x on x.order_id = p.order_id
[postgres] select sum(o.id) from orders o join lines l on l.order_id = any(array[o.id, 1])
[sqlite] select sum(o.id) from orders o join lines l on l.order_id == o.id
select sum(p.cents) from payments p natural join lines
select sum(p.cents) from payments p join lines using (order_id)
select sum(amount_cents) from lines join payments using (order_id)
select sum(o.id) from orders o join payments p on p.id = o.id join lines l on l.order_id = p.order_id`;

/** Each line is right for all data that the keys allow. */
export const SOUND = `
select count(*), sum(cents) from payments
select sum(l.amount_cents) from lines l join orders o on o.id = l.order_id left join customers c on c.id = o.customer_id left join regions r on r.id = c.region_id
select c.segment, sum(l.amount_cents) from lines l left join orders o on o.id = l.order_id left join customers c on c.id = o.customer_id group by c.segment
select o.status, count(*) from orders o left join customers c on c.id = o.customer_id group by o.status
select sum(o.id) from orders o left join regions a on a.id = o.ship_to left join regions b on b.id = o.bill_to
select max(o.id), min(o.ship_to), count(distinct o.id) from orders o join lines l on l.order_id = o.id
select sum(o.id) from orders o where exists (select 1 from lines l where l.order_id = o.id)
select sum(o.id) from orders o where not exists (select 1 from lines l where l.order_id = o.id)
select sum(o.id) from orders o where o.id in (select order_id from lines)
select sum(o.id) from orders o where o.id not in (select order_id from lines where order_id is not null)
select sum(o.id) from orders o where o.id = any (select order_id from lines)
select sum(o.id), sum(x.s) from orders o left join (select order_id, sum(amount_cents) s from lines group by order_id) x on x.order_id = o.id
select sum(o.id) from orders o left join (select distinct order_id from lines) x on x.order_id = o.id
with l as (select order_id, sum(amount_cents) s from lines group by order_id), p as (select order_id, sum(cents) s from payments group by order_id) select sum(o.id), sum(l.s), sum(p.s) from orders o left join l on l.order_id = o.id left join p on p.order_id = o.id
with l as (select order_id, sum(amount_cents) s from lines group by order_id) select o.status, avg(l.s) from l join orders o on o.id = l.order_id group by o.status
select avg(n) from (select customer_id, count(*) n from orders group by customer_id) x
select sum(n) from (select o.customer_id, count(*) n from orders o join lines l on l.order_id = o.id group by o.customer_id) x
select sum(x.n * r.id) from (select region_id, count(*) n from customers group by region_id) x left join regions r on r.id = x.region_id
select sum(v) from (select max(o.ship_to) v from orders o join lines l on l.order_id = o.id group by o.id) x
select o.id, (select sum(l.amount_cents) from lines l where l.order_id = o.id), (select sum(p.cents) from payments p where p.order_id = o.id) from orders o
select sum((select count(*) from lines l where l.order_id = o.id)) from orders o
select sum(o.id) from orders o join (select order_id, row_number() over (partition by order_id order by line) n from lines) x on x.order_id = o.id and x.n = 1
with x as (select order_id, row_number() over (partition by order_id order by line) n from lines) select sum(o.id) from orders o join x on x.order_id = o.id where x.n = 1
select sum(s.on_hand) from stock s join stock t on t.product = s.product and t.day = s.day
select sum(s.on_hand) from stock s left join stock t on t.day = s.day and s.product = t.product
select sum(l.amount_cents) from lines l left join stock s on s.product = l.product and s.day = '2026-01-01'
select sum(a.id) from customers a left join customers b on b.id = a.referred_by
select sum(o.id) from lines l right join orders o on o.id = l.order_id and l.line = 1
select sum(n) from (select count(*) n from orders union all select count(*) from payments) x
select k, sum(n) from (select 'a' k, id n from orders union all select 'b', cents from payments) x group by k
select o.customer_id, count(*) from orders o group by o.customer_id having count(*) > (select avg(cents) from payments)
select sum(cents) over (partition by order_id) from payments
select id, sum(cents) over (order by id) from payments
select count(*) from orders o cross join (select max(id) m from payments) x
select sum(o.id) from orders o cross join (select count(*) n from lines) x
select sum(l.amount_cents * 1.0 / t.n) from lines l join (select order_id, count(*) n from lines group by order_id) t on t.order_id = l.order_id
select sum(case when o.status = 'done' then l.amount_cents end), sum(case when c.segment = 'home' then l.amount_cents end) from lines l join orders o on o.id = l.order_id left join customers c on c.id = o.customer_id
select sum(l.amount_cents) from (select * from lines where line > 0) l join (select * from orders where status = 'done') o on o.id = l.order_id
select sum(amount_cents) from (select l.amount_cents, o.status from lines l join orders o on o.id = l.order_id) x group by status
select sum(p.cents) from payments p join orders o on o.id = p.order_id join customers c on c.id = o.customer_id where c.is_test = false
select count(*) from customers c where (select count(*) from orders o where o.customer_id = c.id) > 1
select sum(n) from (select distinct order_id, 1 as n from lines) x
select count(distinct l.product), sum(l.amount_cents) from lines l join orders o on o.id = l.order_id
select sum(o.id) from orders o left join lines l on l.order_id = o.id and l.line = 1
select sum(o.id) from orders o join lines l on l.order_id = o.id where l.line = 1
select r.name, sum(x.n) from regions r join (select ship_to, count(*) n from orders group by ship_to) x on x.ship_to = r.id group by r.name
select sum(order_id) from (select order_id from lines union select order_id from payments) x
select sum(x.id) from (select id from orders except select order_id from payments) x
select sum(x.id) from (select id from orders intersect select order_id from payments) x
[duckdb postgres] select sum(o.id) from orders o left join lateral (select sum(amount_cents) s from lines l where l.order_id = o.id) x on true
[duckdb postgres] select sum(o.id) from orders o left join (select distinct on (order_id) order_id, line from lines order by order_id, line) x on x.order_id = o.id
[duckdb postgres sqlite] select sum(cents) filter (where cents > 100), count(*) filter (where cents < 0) from payments
[duckdb postgres] select o.status, count(*) from orders o group by rollup(o.status)
[duckdb postgres] select status, customer_id, sum(id) from orders group by grouping sets ((status), (customer_id), ())
[duckdb] select sum(o.id) from orders o semi join lines l on l.order_id = o.id
[duckdb] select sum(o.id) from orders o anti join lines l on l.order_id = o.id
[mysql] select sum(l.amount_cents) from lines l force index (ix) join orders o on o.id = l.order_id
select sum(v) from (select cents v from payments where order_id = 1 union all select cents from payments where order_id = 2) x
select sum(v) from (select id v from orders where status = 'done' union all select id from orders where status = 'open') x
[duckdb postgres] select sum(v) from (select l.amount_cents v from lines l join orders o on o.id = l.order_id limit 100) x`;
