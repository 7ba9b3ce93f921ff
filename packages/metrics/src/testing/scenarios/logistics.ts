import { between, type World } from "./scenario.ts";

/** Legs between ports in two roles, a chain of tables, and two tables that refer to each other's parents. */
export const LOGISTICS: World = {
  name: "logistics",
  tables: {
    countries: {
      columns: "code text, name text",
      key: ["code"],
      rows: [
        ["DE", "Germany"],
        ["SG", "Singapore"],
        ["US", "United States"],
      ],
    },
    ports: {
      columns: "id int, name text, country text, is_hub bool",
      key: ["id"],
      joins: ["country → countries"],
      rows: [
        [1, "Hamburg", "DE", true],
        [2, "Singapore", "SG", true],
        [3, "Oakland", "US", false],
        [4, "Nowhere", null, null],
      ],
    },
    carriers: {
      columns: "id int, name text, home int",
      key: ["id"],
      joins: ["home → ports"],
      rows: [
        [1, "Fast", 1],
        [2, "Slow", 3],
        [3, "Idle", null],
      ],
    },
    shipments: {
      columns: "id int, carrier_id int, booked time, weight real, status text",
      key: ["id"],
      joins: ["carrier_id → carriers"],
      rows: [
        [1, 1, "2025-12-28 12:00:00", 10.5, "done"],
        [2, 1, "2025-12-29 12:00:00", 4.25, "done"],
        [3, 2, "2026-01-04 23:59:59", 0, "open"],
        [4, null, "2026-01-05 00:00:00", 2, "open"],
        [5, 2, "2026-01-05 08:00:00", null, "lost"],
      ],
    },
    legs: {
      columns: "shipment_id int, leg int, origin int, destination int, departed time, arrived time, cost dec",
      key: ["shipment_id", "leg"],
      joins: ["shipment_id → shipments", "origin → ports", "destination → ports"],
      rows: [
        [1, 1, 1, 2, "2025-12-30 01:00:00", "2026-01-10 01:00:00", 500],
        [1, 2, 2, 3, "2026-01-11 01:00:00", "2026-01-25 01:00:00", 700],
        [2, 1, 1, 3, "2026-01-02 01:00:00", null, 900],
        [3, 1, 3, 1, "2026-01-06 01:00:00", "2026-01-20 01:00:00", 850.5],
        [4, 1, 3, 4, "2026-01-07 01:00:00", "2026-01-08 01:00:00", 10],
        [5, 1, 2, null, null, null, 0],
        [9, 1, 1, 1, "2026-01-07 01:00:00", "2026-01-07 01:00:00", 33],
      ],
    },
    items: {
      columns: "id int, shipment_id int, sku text, pieces int",
      key: ["id"],
      joins: ["shipment_id → shipments"],
      rows: [
        [1, 1, "a", 5],
        [2, 1, "b", 7],
        [3, 2, "a", 1],
        [4, 3, "c", 2],
        [5, 3, "c", 2],
        [6, null, "a", 100],
      ],
    },
  },
  files: [
    { entity: "country", table: "countries", grain: ["code"], dimensions: { name: null } },
    {
      entity: "port",
      table: "ports",
      grain: ["id"],
      dimensions: { name: null, hub: { expr: "is_hub" } },
      measures: { all: { count: "rows" } },
      metrics: { ports: { measure: "all" } },
    },
    {
      entity: "carrier",
      table: "carriers",
      grain: ["id"],
      roles: { home: ["home"] },
      dimensions: { name: null },
      measures: { all: { count: "rows" } },
      metrics: { carriers: { measure: "all" } },
    },
    {
      entity: "shipment",
      table: "shipments",
      grain: ["id"],
      time: "booked",
      dimensions: { booked: { time: "minute" }, status: null, weekday: { expr: "weekday(booked)" } },
      segments: { done: "status = 'done'" },
      measures: {
        all: { count: "rows" },
        weight: { sum: "weight" },
        mean: { average: "weight" },
        lost: { count: "rows", where: "status = 'lost'" },
      },
      metrics: {
        shipments: { measure: "all" },
        weight: { measure: "weight" },
        mean_weight: { measure: "mean" },
        lost: { measure: "lost" },
        loss_rate: { ratio: ["lost", "shipments"] },
        cost_per_shipment: { ratio: ["cost", "shipments"] },
        cost_per_weight: { ratio: ["cost", "weight"] },
        pieces_per_leg: { ratio: ["pieces", "legs"] },
      },
    },
    {
      entity: "leg",
      table: "legs",
      grain: ["shipment_id", "leg"],
      roles: { origin: ["origin"], destination: ["destination"] },
      time: "departed",
      dimensions: {
        departed: { time: "day" },
        arrived: { time: "day" },
        is_first: { expr: "leg = 1" },
        route: {
          expr: "case when origin.country = destination.country then 'domestic' when origin.country is null or destination.country is null then 'unknown' else 'abroad' end",
        },
      },
      measures: {
        all: { count: "rows" },
        cost: { sum: "cost" },
        arrived: { count: "rows", time: "arrived", where: "arrived is not null" },
        arrival_cost: { sum: "cost", time: "arrived" },
      },
      metrics: {
        legs: { measure: "all" },
        cost: { measure: "cost" },
        arrivals: { measure: "arrived" },
        arrival_cost: { measure: "arrival_cost" },
        mean_cost: { ratio: ["cost", "legs"] },
        under_way: { derived: "legs_so_far - arrivals_so_far" },
        legs_so_far: { cumulative: "legs" },
        arrivals_so_far: { cumulative: "arrivals" },
      },
    },
    {
      entity: "item",
      table: "items",
      grain: ["id"],
      dimensions: { sku: null },
      measures: { pieces: { sum: "pieces" }, lines: { count: "rows" }, skus: { count_distinct: "sku" } },
      metrics: { pieces: { measure: "pieces" }, lines: { measure: "lines" }, skus: { measure: "skus" } },
    },
  ],
  scenarios: [
    {
      title: "cost by country of origin",
      query: { metrics: ["cost", "legs"], by: ["origin.country.name"] },
      sql: "select c.name, sum(l.cost), count(*) from @legs l left join @ports p on p.id = l.origin left join @countries c on c.code = p.country group by c.name",
    },
    {
      title: "cost by origin and destination",
      query: { metrics: ["cost"], by: ["leg.origin.name", "leg.destination.name"] },
      sql: "select o.name, d.name, sum(l.cost) from @legs l left join @ports o on o.id = l.origin left join @ports d on d.id = l.destination group by o.name, d.name",
    },
    {
      title: "a port without a role is ambiguous",
      query: { metrics: ["cost"], by: ["port.name"] },
      refused: "ambiguous",
    },
    { title: "a country is ambiguous, too", query: { metrics: ["cost"], by: ["country.name"] }, refused: "ambiguous" },
    {
      title: "legs between hubs",
      query: {
        metrics: ["legs"],
        where: [
          { field: "origin.hub", op: "=", value: true },
          { field: "destination.hub", op: "=", value: true },
        ],
      },
      sql: "select count(*) from @legs l join @ports o on o.id = l.origin join @ports d on d.id = l.destination where o.is_hub and d.is_hub",
    },
    {
      title: "an expression over both roles",
      query: { metrics: ["legs"], by: ["leg.route"] },
      sql: "select r, count(*) from (select case when o.country = d.country then 'domestic' when o.country is null or d.country is null then 'unknown' else 'abroad' end r from @legs l left join @ports o on o.id = l.origin left join @ports d on d.id = l.destination) x group by r",
    },
    {
      title: "shipments, legs and items by carrier: a chasm",
      query: { metrics: ["shipments", "weight", "cost", "pieces"], by: ["carrier.name"] },
      sql: "with k as (select name from @carriers where id in (1, 2) union all select null) select k.name, (select count(*) from @shipments s left join @carriers c on c.id = s.carrier_id where c.name = k.name or (c.name is null and k.name is null)), (select sum(weight) from @shipments s left join @carriers c on c.id = s.carrier_id where c.name = k.name or (c.name is null and k.name is null)), (select sum(cost) from @legs l left join @shipments s on s.id = l.shipment_id left join @carriers c on c.id = s.carrier_id where c.name = k.name or (c.name is null and k.name is null)), (select sum(pieces) from @items i left join @shipments s on s.id = i.shipment_id left join @carriers c on c.id = s.carrier_id where c.name = k.name or (c.name is null and k.name is null)) from k",
    },
    {
      title: "a ratio across the chasm",
      query: { metrics: ["cost_per_shipment", "pieces_per_leg"], by: ["shipment.status"] },
      sql: ({ div }) =>
        `select x, ${div("(select sum(cost) from @legs l left join @shipments s on s.id = l.shipment_id where coalesce(s.status, '-') = x2)", "coalesce((select count(*) from @shipments s where s.status = x2), 0)")}, ${div("coalesce((select sum(pieces) from @items i left join @shipments s on s.id = i.shipment_id where coalesce(s.status, '-') = x2), 0)", "(select count(*) from @legs l left join @shipments s on s.id = l.shipment_id where coalesce(s.status, '-') = x2)")} from (select 'done' x, 'done' x2 union all select 'open', 'open' union all select 'lost', 'lost' union all select null, '-') y`,
    },
    {
      title: "a total of nothing divided by zero weight",
      query: { metrics: ["cost_per_weight"], by: ["shipment.status"] },
      sql: ({ div }) =>
        `select x, ${div("(select sum(cost) from @legs l left join @shipments s on s.id = l.shipment_id where coalesce(s.status, '-') = x2)", "(select sum(weight) from @shipments s where s.status = x2)")} from (select 'done' x, 'done' x2 union all select 'open', 'open' union all select 'lost', 'lost' union all select null, '-') y`,
    },
    {
      title: "weeks at the turn of the year",
      query: { metrics: ["shipments"], by: ["time.week"] },
      rows: [
        ["2025-12-22", 1],
        ["2025-12-29", 2],
        ["2026-01-05", 2],
      ],
    },
    {
      title: "weeks by hand-written SQL",
      query: { metrics: ["weight"], by: ["time.week"] },
      sql: ({ week }) => `select ${week("booked")}, sum(weight) from @shipments group by ${week("booked")}`,
    },
    {
      title: "days of the week",
      query: { metrics: ["shipments"], by: ["shipment.weekday"] },
      rows: [
        [7, 2],
        [1, 3],
      ],
    },
    {
      title: "departures and arrivals, each by its own day",
      query: { metrics: ["legs", "arrivals"], by: ["time.month"] },
      sql: ({ month }) =>
        `select m, sum(a), sum(b) from (select ${month("departed")} m, 1 a, 0 b from @legs union all select ${month("arrived")}, 0, 1 from @legs where arrived is not null) x group by m`,
    },
    {
      title: "under way: the difference of two running totals",
      query: { metrics: ["under_way"], by: ["time.month"], where: between("2025-12-01", "2026-02-01") },
      rows: [
        ["2025-12-01", 1],
        ["2026-01-01", 1],
      ],
    },
    {
      title: "the cost of arrivals by a named time",
      query: { metrics: ["cost"], by: ["leg.arrived.month"] },
      sql: ({ month }) => `select ${month("arrived")}, sum(cost) from @legs group by ${month("arrived")}`,
    },
    {
      title: "shipments through a port: each once",
      query: {
        metrics: ["shipments", "weight"],
        where: [{ field: "leg.destination.name", op: "=", value: "Oakland" }],
      },
      sql: "select count(*), sum(weight) from @shipments s where exists (select 1 from @legs l join @ports p on p.id = l.destination where l.shipment_id = s.id and p.name = 'Oakland')",
    },
    {
      title: "one leg from Singapore to Oakland, not two legs",
      query: {
        metrics: ["shipments"],
        where: [
          { field: "leg.origin.name", op: "=", value: "Singapore" },
          { field: "leg.destination.name", op: "=", value: "Oakland" },
        ],
      },
      sql: "select count(*) from @shipments s where exists (select 1 from @legs l join @ports p on p.id = l.destination join @ports o on o.id = l.origin where l.shipment_id = s.id and p.name = 'Oakland' and o.name = 'Singapore')",
    },
    {
      title: "one leg from Hamburg to Oakland, not a way there",
      query: {
        metrics: ["shipments"],
        where: [
          { field: "leg.origin.name", op: "=", value: "Hamburg" },
          { field: "leg.destination.name", op: "=", value: "Oakland" },
        ],
      },
      sql: "select count(*) from @shipments s where exists (select 1 from @legs l join @ports p on p.id = l.destination join @ports o on o.id = l.origin where l.shipment_id = s.id and p.name = 'Oakland' and o.name = 'Hamburg')",
    },
    {
      title: "a leg by its cost and its destination",
      query: {
        metrics: ["weight"],
        where: [
          { field: "leg.departed", from: "2026-01-01" },
          { field: "leg.destination.hub", op: "=", value: true },
        ],
      },
      sql: "select sum(weight) from @shipments s where exists (select 1 from @legs l join @ports p on p.id = l.destination where l.shipment_id = s.id and l.departed >= '2026-01-01' and p.is_hub)",
    },
    {
      title: "items of shipments with a leg to Oakland",
      query: { metrics: ["pieces"], where: [{ field: "leg.destination.name", op: "=", value: "Oakland" }] },
      sql: "select sum(pieces) from @items i where exists (select 1 from @legs l join @ports p on p.id = l.destination where l.shipment_id = i.shipment_id and p.name = 'Oakland')",
    },
    {
      title: "carriers with an open shipment and one leg to Hamburg of it",
      query: {
        metrics: ["carriers"],
        where: [
          { field: "shipment.status", op: "=", value: "open" },
          { field: "shipment.leg.destination.name", op: "=", value: "Hamburg" },
        ],
      },
      sql: "select count(*) from @carriers c where exists (select 1 from @shipments s join @legs l on l.shipment_id = s.id join @ports p on p.id = l.destination where s.carrier_id = c.id and s.status = 'open' and p.name = 'Hamburg')",
    },
    {
      title: "carriers at home in a country",
      query: { metrics: ["shipments"], by: ["carrier.home.country.name"] },
      sql: "select n.name, count(*) from @shipments s left join @carriers c on c.id = s.carrier_id left join @ports p on p.id = c.home left join @countries n on n.code = p.country group by n.name",
    },
    {
      title: "shipments cannot be split by legs",
      query: { metrics: ["shipments"], by: ["leg.route"] },
      refused: "unsafe",
    },
    {
      title: "shipments cannot be split by a port of their legs",
      query: { metrics: ["shipments"], by: ["leg.origin.name"] },
      refused: "unsafe",
    },
    {
      title: "legs by a field of their shipment",
      query: { metrics: ["mean_cost"], by: ["shipment.status"] },
      sql: ({ div }) =>
        `select s.status, ${div("sum(l.cost)", "count(*)")} from @legs l left join @shipments s on s.id = l.shipment_id group by s.status`,
    },
    {
      title: "a boolean dimension",
      query: { metrics: ["legs"], by: ["leg.is_first"] },
      sql: "select leg = 1, count(*) from @legs group by leg = 1",
    },
    {
      title: "hubs, with NULL as a group",
      query: { metrics: ["ports"], by: ["port.hub"] },
      sql: "select is_hub, count(*) from @ports group by is_hub",
    },
    {
      title: "distinct SKUs by status, and of all",
      query: { metrics: ["skus", "lines"], by: ["shipment.status"] },
      sql: "select s.status, count(distinct i.sku), count(*) from @items i left join @shipments s on s.id = i.shipment_id group by s.status",
    },
    { title: "distinct SKUs in total", query: { metrics: ["skus"] }, sql: "select count(distinct sku) from @items" },
    {
      title: "an average of weights leaves NULL out",
      query: { metrics: ["mean_weight"], by: ["carrier.name"] },
      sql: "select c.name, avg(s.weight) from @shipments s left join @carriers c on c.id = s.carrier_id group by c.name",
    },
    {
      title: "a rate whose parts have no rows",
      query: { metrics: ["loss_rate", "lost"], by: ["carrier.name"] },
      sql: ({ div }) =>
        `select c.name, ${div("sum(case when s.status = 'lost' then 1 else 0 end)", "count(*)")}, sum(case when s.status = 'lost' then 1 else 0 end) from @shipments s left join @carriers c on c.id = s.carrier_id group by c.name`,
    },
    {
      title: "a segment of a parent",
      query: { metrics: ["cost"], segments: ["shipment.done"] },
      sql: "select sum(l.cost) from @legs l join @shipments s on s.id = l.shipment_id where s.status = 'done'",
    },
    {
      title: "a range to the minute",
      query: { metrics: ["shipments"], where: between("2026-01-04T23:59", "2026-01-05T00:00") },
      sql: "select count(*) from @shipments where booked >= '2026-01-04 23:59:00' and booked < '2026-01-05 00:00:00'",
    },
  ],
};
