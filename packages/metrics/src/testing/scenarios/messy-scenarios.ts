import { between, type Scenario } from "./scenario.ts";

export const MESSY_SCENARIOS: readonly Scenario[] = [
  {
    title: "reserved words as columns",
    query: { metrics: ["posts", "chosen"], by: ["post.order", "post.group"] },
    rows: [
      ["first", "x", 1, 10],
      ["second", "x", 1, 20],
      ["first", null, 1, null],
    ],
  },
  {
    title: "comments on posts only",
    query: { metrics: ["comments", "stars"], by: ["post.order"] },
    sql: ({ dialect }) =>
      `select p.${dialect === "mysql" ? "`order`" : '"order"'}, count(*), sum(c.stars) from @comments c left join @posts p on p.id = c.subject and c.kind = 'post' group by p.${dialect === "mysql" ? "`order`" : '"order"'}`,
  },
  {
    title: "comments on photos only",
    query: { metrics: ["comments"], by: ["photo.title"] },
    sql: "select p.title, count(*) from @comments c left join @photos p on p.id = c.subject and c.kind = 'photo' group by p.title",
  },
  {
    title: "photos with a comment of theirs",
    query: { metrics: ["photos"], where: [{ field: "comment.kind", op: "not_null" }] },
    sql: "select count(*) from @photos p where exists (select 1 from @comments c where c.subject = p.id and c.kind = 'photo' and c.kind is not null)",
  },
  {
    title: "posts with a comment after a day",
    query: { metrics: ["posts"], where: [{ field: "comment.written", from: "2026-01-02" }] },
    rows: [[2]],
  },
  {
    title: "numbers as times: seconds and milliseconds",
    query: { metrics: ["comments"], by: ["time.month"] },
    rows: [
      ["2026-01-01", 2],
      ["2026-02-01", 3],
      ["2026-03-01", 1],
      [null, 1],
    ],
  },
  {
    title: "a range over numbers as times",
    query: { metrics: ["stars"], where: between("2026-02-01", "2026-03-01") },
    rows: [[9]],
  },
  { title: "a median of an even number of rows", query: { metrics: ["median_stars"] }, rows: [[4]] },
  {
    title: "medians by group, beside counts",
    query: { metrics: ["median_stars", "comments"], by: ["comment.kind"] },
    rows: [
      ["post", 3.5, 4],
      ["photo", 2.5, 2],
      [null, 4, 1],
    ],
  },
  {
    title: "a median with a filter, an average and two facts",
    query: { metrics: ["median_sale", "median_large", "mean_sale", "line_value"], by: ["store.city"] },
    rows: [
      ["Köln", 15, 20, 16, 10 + 20 + 30 + 15],
      ["Bonn", 30, 30, 35, 30 + 50 + 25],
      [null, 5, null, 5, null],
    ],
  },
  { title: "a median of negative and fractional values", query: { metrics: ["median_small"] }, rows: [[0.3]] },
  {
    title: "large integers add up exactly",
    query: { metrics: ["largest_big"] },
    sql: ({ text }) => `select ${text("max(big_value)")} from @measurements`,
  },
  {
    title: "trailing spaces and case make groups",
    query: { metrics: ["measurements"], by: ["measurement.sensor"] },
    rows: [
      ["a", 2],
      ["b", 1],
      ["b ", 1],
      ["B", 1],
      ["", 1],
      [null, 1],
    ],
  },
  { title: "distinct texts are told apart exactly", query: { metrics: ["sensors"] }, rows: [[5]] },
  {
    title: "trimmed texts",
    query: { metrics: ["measurements"], by: ["measurement.trimmed"] },
    rows: [
      ["a", 2],
      ["b", 2],
      ["B", 1],
      ["", 1],
      [null, 1],
    ],
  },
  {
    title: "lengths of texts",
    query: { metrics: ["measurements"], by: ["measurement.letters"] },
    rows: [
      [1, 4],
      [2, 1],
      [0, 1],
      [null, 1],
    ],
  },
  { title: "flags with unknown ones", query: { metrics: ["flagged", "unflagged", "measurements"] }, rows: [[4, 2, 7]] },
  {
    title: "a flag that is not true",
    query: { metrics: ["measurements"], where: [{ field: "measurement.flag", op: "!=", value: true }] },
    rows: [[2]],
  },
  {
    title: "a division by zero in a row is no value",
    query: { metrics: ["inverse"], where: between("2025-01-03", "2026-01-01") },
    rows: [[-0.2 + 1 + 0.5]],
  },
  {
    title: "sizes of floating numbers",
    query: { metrics: ["measurements", "small"], by: ["measurement.size"] },
    sql: "select s, count(*), sum(small) from (select case when small > 1 then 'large' when small > 0 then 'small' else 'none' end s, small from @measurements) x group by s",
  },
  {
    title: "running distinct buyers",
    query: { metrics: ["buyers_so_far"], by: ["time.month"] },
    rows: [
      ["2025-01-01", 2],
      ["2025-02-01", 2],
      ["2025-04-01", 3],
      ["2026-01-01", 3],
      ["2026-02-01", 4],
    ],
  },
  {
    title: "distinct buyers of 30 days",
    query: { metrics: ["buyers_30"], by: ["time.day"], where: between("2025-02-09", "2025-02-12") },
    rows: [
      ["2025-02-09", 1],
      ["2025-02-10", 2],
      ["2025-02-11", 2],
    ],
  },
  {
    title: "distinct buyers of the year, by store",
    query: { metrics: ["buyers_ytd"], by: ["time.quarter", "store.city"], where: between("2025-01-01", "2025-07-01") },
    rows: [
      ["2025-01-01", "Köln", 2],
      ["2025-01-01", "Bonn", 1],
      ["2025-04-01", "Köln", 2],
      ["2025-04-01", "Bonn", 2],
    ],
  },
  {
    title: "a running average is that of all rows",
    query: { metrics: ["mean_so_far", "best_so_far"], by: ["time.month"], where: between("2025-01-01", "2025-04-01") },
    rows: [
      ["2025-01-01", 15, 20],
      ["2025-02-01", 22.5, 30],
      ["2025-03-01", 22.5, 30],
    ],
  },
  {
    title: "year to date against the year before, by month",
    query: { metrics: ["sold_ytd", "ytd_growth"], by: ["time.month"], where: between("2026-01-01", "2026-04-01") },
    rows: [
      ["2026-01-01", 15, -15],
      ["2026-02-01", 50, -40],
      ["2026-03-01", 50, -40],
    ],
  },
  {
    title: "year to date against the year before, by day",
    query: { metrics: ["ytd_growth"], by: ["time.day"], where: between("2026-01-15", "2026-01-22") },
    rows: [
      ["2026-01-15", 5],
      ["2026-01-16", 5],
      ["2026-01-17", 5],
      ["2026-01-18", 5],
      ["2026-01-19", 5],
      ["2026-01-20", -15],
      ["2026-01-21", -15],
    ],
  },
  {
    title: "year to date against the year before, without a range",
    query: { metrics: ["ytd_rate"], by: ["time.month"] },
    rows: [
      ["2025-01-01", null],
      ["2025-02-01", null],
      ["2025-04-01", null],
      ["2026-01-01", 15 / 30 - 1],
      ["2026-02-01", 50 / 90 - 1],
    ],
  },
  {
    title: "year to date of part of a month",
    query: { metrics: ["ytd_growth"], by: ["time.month"], where: between("2026-01-01", "2026-01-16") },
    rows: [["2026-01-01", 5]],
  },
  {
    title: "one value against the year before, by city",
    query: { metrics: ["growth_rate"], by: ["store.city"], where: between("2026-01-01", "2026-03-01") },
    rows: [
      ["Köln", 20 / 60 - 1],
      ["Bonn", 25 / 30 - 1],
      [null, null],
    ],
  },
  {
    title: "lines, sales and returns of a chain of three tables",
    query: { metrics: ["line_value", "sold", "returned"], by: ["store.city"] },
    sql: "select k.c, (select sum(pieces * price) from @sale_lines l left join @sales s on s.id = l.sale_id left join @stores t on t.id = s.store_id where coalesce(t.city, '-') = k.k), (select sum(total) from @sales s left join @stores t on t.id = s.store_id where coalesce(t.city, '-') = k.k), (select sum(pieces) from @returns r left join @sales s on s.id = r.sale_id left join @stores t on t.id = s.store_id where coalesce(t.city, '-') = k.k) from (select 'Köln' c, 'Köln' k union all select 'Bonn', 'Bonn' union all select null, '-') k",
  },
  {
    title: "returns valued at the price of their line, by a composite key",
    query: { metrics: ["returned_value", "returned"], by: ["line.article"] },
    sql: "select l.article, sum(r.pieces * l.price), sum(r.pieces) from @returns r left join @sale_lines l on l.sale_id = r.sale_id and l.line = r.line group by l.article",
  },
  {
    title: "kept pieces: lines less returns, each by its own month",
    query: { metrics: ["kept"], by: ["time.month"] },
    sql: ({ month }) =>
      `select m, sum(v) from (select ${month("s.sold")} m, l.pieces v from @sale_lines l join @sales s on s.id = l.sale_id union all select ${month("returned")}, -pieces from @returns) x group by m`,
  },
  {
    title: "a rate of returns by article",
    query: { metrics: ["return_rate"], by: ["line.article"] },
    sql: ({ div }) =>
      `select k.a, ${div("coalesce((select sum(r.pieces) from @returns r left join @sale_lines l on l.sale_id = r.sale_id and l.line = r.line where coalesce(l.article, '-') = k.k), 0)", "(select sum(pieces) from @sale_lines where coalesce(article, '-') = k.k)")} from (select 'tea' a, 'tea' k union all select 'cup', 'cup' union all select 'pot', 'pot' union all select null, '-') k`,
  },
  {
    title: "sales with five teas on one line",
    query: {
      metrics: ["sold", "sales"],
      where: [
        { field: "line.article", op: "=", value: "tea" },
        { field: "line.many", op: "=", value: true },
      ],
    },
    sql: "select sum(total), count(*) from @sales s where exists (select 1 from @sale_lines l where l.sale_id = s.id and l.article = 'tea' and l.pieces >= 2)",
  },
  {
    title: "stores that sold a pot on a large sale: one sale has both",
    query: {
      metrics: ["stores"],
      where: [
        { field: "line.article", op: "=", value: "cup" },
        { field: "sale.is_large", op: "=", value: true },
      ],
    },
    sql: "select count(*) from @stores t where exists (select 1 from @sales s join @sale_lines l on l.sale_id = s.id where s.store_id = t.id and l.article = 'cup' and s.total >= 25)",
  },
  {
    title: "stores whose sale was returned in a year",
    query: { metrics: ["stores"], by: ["store.city"], where: between("2025-01-01", "2026-01-01", "return.returned") },
    sql: "select city, count(*) from @stores t where exists (select 1 from @sales s join @returns r on r.sale_id = s.id where s.store_id = t.id and r.returned < '2026-01-01') group by city",
  },
  {
    title: "stores whose sale was returned, by the way of the sale",
    query: {
      metrics: ["stores"],
      by: ["store.city"],
      where: between("2025-01-01", "2026-01-01", "sale.return.returned"),
    },
    sql: "select city, count(*) from @stores t where exists (select 1 from @sales s join @returns r on r.sale_id = s.id where s.store_id = t.id and r.returned < '2026-01-01') group by city",
  },
  {
    title: "distinct articles by city are no sum",
    query: { metrics: ["articles"], by: ["store.city"] },
    sql: "select t.city, count(distinct l.article) from @sale_lines l left join @sales s on s.id = l.sale_id left join @stores t on t.id = s.store_id group by t.city",
  },
  {
    title: "nested derived metrics",
    query: { metrics: ["nested", "double"], by: ["sale.customer"] },
    sql: "select customer, 2 * sum(total) - avg(total) * count(*), 2 * sum(total) from @sales group by customer",
  },
  {
    title: "targets by month beside sales, without a shared table",
    query: { metrics: ["sold", "goal", "gap"], by: ["time.month"], where: between("2025-01-01", "2025-03-01") },
    rows: [
      ["2025-01-01", 30, 45, -15],
      ["2025-02-01", 60, 80, -20],
    ],
  },
  {
    title: "targets cannot be split by stores",
    query: { metrics: ["gap"], by: ["store.city"] },
    refused: "unknown_name",
  },
  {
    title: "a condition on parts of a time",
    query: { metrics: ["sold"], segments: ["sale.spring"] },
    sql: "select sum(total) from @sales where sold in ('2025-02-10', '2025-02-11', '2025-04-01', '2026-02-01', '2026-02-03')",
  },
  { title: "a segment with a day in it", query: { metrics: ["sales"], segments: ["sale.early"] }, rows: [[2]] },
  {
    title: "months of all years",
    query: { metrics: ["sold"], by: ["sale.month_number"] },
    rows: [
      [1, 45],
      [2, 95],
      [4, 50],
    ],
  },
  {
    title: "a number given as text, and one in a list",
    query: { metrics: ["sales"], where: [{ field: "sale.month_number", op: "in", values: ["1", 4] }] },
    rows: [[4]],
  },
  {
    title: "stores without a day, in a ratio of two times",
    query: { metrics: ["per_store"], by: ["time.year"] },
    rows: [
      ["2024-01-01", 0],
      ["2025-01-01", null],
      ["2026-01-01", null],
      [null, 0],
    ],
  },
  {
    title: "a share of rows of the same fact",
    query: { metrics: ["large_share", "large_sales"], by: ["store.city"] },
    rows: [
      ["Köln", 0.2, 1],
      ["Bonn", 1, 3],
      [null, 0, 0],
    ],
  },
  {
    title: "the three best customers, ties by name",
    query: { metrics: ["sales"], by: ["sale.customer"], order: [{ field: "sales", descending: true }], limit: 3 },
    rows: [
      ["ann", 3],
      ["bob", 2],
      ["cyd", 2],
    ],
  },
  {
    title: "ordered by a dimension, NULL last",
    query: { metrics: ["sales"], by: ["sale.customer"], order: [{ field: "sale.customer", descending: true }] },
    rows: [
      ["dan", 1],
      ["cyd", 2],
      ["bob", 2],
      ["ann", 3],
      [null, 1],
    ],
  },
  {
    title: "letters beyond ASCII in a filter",
    query: { metrics: ["sold"], where: [{ field: "store.city", op: "starts_with", value: "Kö" }] },
    rows: [[80]],
  },
];
