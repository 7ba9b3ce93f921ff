import { between, type Scenario } from "./scenario.ts";

export const PEOPLE_SCENARIOS: readonly Scenario[] = [
  {
    title: "by the manager's name",
    query: { metrics: ["headcount", "pay"], by: ["manager.name"] },
    sql: "select m.name, count(*), sum(e.salary) from @employees e left join @employees m on m.id = e.manager_id group by m.name",
  },
  {
    title: "by the manager's manager",
    query: { metrics: ["headcount"], by: ["manager.manager.name"] },
    sql: "select n.name, count(*) from @employees e left join @employees m on m.id = e.manager_id left join @employees n on n.id = m.manager_id group by n.name",
  },
  {
    title: "the manager's department",
    query: { metrics: ["pay"], by: ["manager.department.name"] },
    sql: "select d.name, sum(e.salary) from @employees e left join @employees m on m.id = e.manager_id left join @departments d on d.id = m.department_id group by d.name",
  },
  {
    title: "the parent of the department",
    query: { metrics: ["headcount"], by: ["department.parent.name"] },
    sql: "select p.name, count(*) from @employees e left join @departments d on d.id = e.department_id left join @departments p on p.id = d.parent_id group by p.name",
  },
  {
    title: "a measure over a self join",
    query: { metrics: ["pay_gap"] },
    sql: "select sum(m.salary - e.salary) from @employees e left join @employees m on m.id = e.manager_id",
  },
  {
    title: "a boolean of two rows, NULL if unknown",
    query: { metrics: ["headcount"], by: ["employee.well_paid"] },
    sql: ({ div }) =>
      `select e.salary > ${div("m.salary", "2")}, count(*) from @employees e left join @employees m on m.id = e.manager_id group by e.salary > ${div("m.salary", "2")}`,
  },
  {
    title: "a case expression",
    query: { metrics: ["headcount", "mean_pay"], by: ["employee.band"] },
    sql: "select b, count(*), avg(salary) from (select case when salary >= 7000 then 'high' when salary >= 5000 then 'middle' when salary is null then 'unknown' else 'low' end b, salary from @employees) x group by b",
  },
  {
    title: "grades folded to upper case",
    query: { metrics: ["headcount"], by: ["employee.folded"] },
    sql: "select upper(grade), count(*) from @employees group by upper(grade)",
  },
  {
    title: "hires by year, leap day included",
    query: { metrics: ["headcount"], by: ["time.year"] },
    sql: ({ year }) => `select ${year("hired")}, count(*) from @employees group by ${year("hired")}`,
  },
  {
    title: "hires of a leap day",
    query: { metrics: ["headcount"], where: between("2024-02-29", "2024-03-01") },
    rows: [[1]],
  },
  {
    title: "hires of February, half-open",
    query: { metrics: ["headcount"], where: between("2025-02-01", "2025-03-01") },
    rows: [[1]],
  },
  {
    title: "day by day against the year before: 29 February looks at the 28th",
    query: { metrics: ["hires_before"], by: ["time.day"], where: between("2021-01-01", "2026-01-01") },
    rows: [
      ["2021-02-28", 1],
      ["2024-02-29", 1],
      ["2025-02-28", 1],
      ["2025-03-01", 1],
      ["2025-12-31", 1],
    ],
  },
  {
    title: "staff: hires less leavers, running",
    query: { metrics: ["staff"], by: ["time.year"] },
    rows: [
      ["2020-01-01", 1],
      ["2021-01-01", 2],
      ["2024-01-01", 3],
      ["2025-01-01", 5],
    ],
  },
  {
    title: "a running total since a range",
    query: { metrics: ["hires_so_far"], by: ["time.year"], where: between("2023-01-01", "2026-01-01") },
    rows: [
      ["2023-01-01", 2],
      ["2024-01-01", 3],
      ["2025-01-01", 6],
    ],
  },
  {
    title: "a running total where the time is known",
    query: { metrics: ["hires_so_far"], by: ["time.year"], where: [{ field: "time", op: "not_null" }] },
    rows: [
      ["2020-01-01", 1],
      ["2021-01-01", 2],
      ["2024-01-01", 3],
      ["2025-01-01", 6],
    ],
  },
  {
    title: "a running total from a year on",
    query: { metrics: ["hires_so_far"], by: ["time.year"], where: [{ field: "time.year", op: ">=", value: "2024" }] },
    rows: [
      ["2024-01-01", 3],
      ["2025-01-01", 6],
    ],
  },
  {
    title: "leavers by their own time",
    query: { metrics: ["leavers", "headcount"], by: ["time.year"] },
    sql: ({ year }) =>
      `select y, sum(l), sum(h) from (select ${year("left_on")} y, 1 l, 0 h from @employees where left_on is not null union all select ${year("hired")}, 0, 1 from @employees) x group by y`,
  },
  {
    title: "employees with a badge: one to one, in both directions",
    query: { metrics: ["headcount"], by: ["badge.number"] },
    sql: "select b.number, count(*) from @employees e left join @badges b on b.employee_id = e.id group by b.number",
  },
  {
    title: "badges by the grade of their holder",
    query: { metrics: ["badges"], by: ["employee.grade"] },
    sql: "select e.grade, count(*) from @badges b left join @employees e on e.id = b.employee_id group by e.grade",
  },
  {
    title: "current titles",
    query: { metrics: ["titles"], by: ["title.title"], segments: ["title.current"] },
    sql: "select title, count(*) from @history where valid_to is null group by title",
  },
  {
    title: "titles as of a day",
    query: {
      metrics: ["titles"],
      where: [
        { field: "title.since", until: "2025-09-01" },
        { field: "title.until", from: "2025-09-01" },
      ],
    },
    sql: "select count(*) from @history where valid_from < '2025-09-01' and valid_to >= '2025-09-01'",
  },
  {
    title: "employees who are engineers now: one row has both",
    query: {
      metrics: ["headcount"],
      where: [
        { field: "title.title", op: "=", value: "Engineer" },
        { field: "title.until", op: "is_null" },
      ],
    },
    sql: "select count(*) from @employees e where exists (select 1 from @history h where h.employee_id = e.id and h.title = 'Engineer' and h.valid_to is null)",
  },
  {
    title: "employees who are engineers now, by a segment",
    query: {
      metrics: ["headcount"],
      where: [{ field: "title.title", op: "=", value: "Engineer" }],
      segments: ["title.current"],
    },
    sql: "select count(*) from @employees e where exists (select 1 from @history h where h.employee_id = e.id and h.title = 'Engineer' and h.valid_to is null)",
  },
  {
    title: "visits by doctor and patient",
    query: { metrics: ["visits", "minutes"], by: ["doctor.name", "patient.name"] },
    sql: "select d.name, p.name, count(*), sum(v.minutes) from @visits v left join @employees d on d.id = v.doctor_id left join @employees p on p.id = v.employee_id group by d.name, p.name",
  },
  {
    title: "visits by the doctor's department",
    query: { metrics: ["visits"], by: ["doctor.department.name"] },
    sql: "select x.name, count(*) from @visits v left join @employees d on d.id = v.doctor_id left join @departments x on x.id = d.department_id group by x.name",
  },
  {
    title: "visits by employee without a role are refused",
    query: { metrics: ["visits"], by: ["employee.name"] },
    refused: "ambiguous",
  },
  {
    title: "minutes of visits with a flu count once",
    query: { metrics: ["minutes", "visits"], where: [{ field: "diagnosis.code", op: "=", value: "flu" }] },
    sql: "select sum(minutes), count(*) from @visits v where exists (select 1 from @diagnoses d where d.visit_id = v.id and d.code = 'flu')",
  },
  {
    title: "a severe flu, not a flu and something severe",
    query: {
      metrics: ["visits"],
      where: [
        { field: "diagnosis.code", op: "=", value: "cough" },
        { field: "diagnosis.severity", op: ">=", value: 2 },
      ],
    },
    rows: [[0]],
  },
  {
    title: "severity by doctor",
    query: { metrics: ["severity", "severity_per_visit"], by: ["doctor.name"] },
    sql: ({ div }) =>
      `select k.n, (select sum(severity) from @diagnoses g left join @visits v on v.id = g.visit_id left join @employees d on d.id = v.doctor_id where coalesce(d.name, '-') = k.k), ${div("coalesce((select sum(severity) from @diagnoses g left join @visits v on v.id = g.visit_id left join @employees d on d.id = v.doctor_id where coalesce(d.name, '-') = k.k), 0)", "(select count(*) from @visits v left join @employees d on d.id = v.doctor_id where coalesce(d.name, '-') = k.k)")} from (select 'Ben' as n, 'Ben' as k union all select 'Cyd', 'Cyd' union all select null, '-') k`,
  },
  { title: "minutes cannot be split by tags", query: { metrics: ["minutes"], by: ["tag.label"] }, refused: "unsafe" },
  {
    title: "minutes weighted by tag",
    query: { metrics: ["tagged_minutes", "taggings"], by: ["tag.label"] },
    sql: "select t.label, sum(x.weight * v.minutes), count(*) from @visit_tags x left join @visits v on v.id = x.visit_id left join @tags t on t.id = x.tag_id group by t.label",
  },
  {
    title: "visits with a tag, through the bridge",
    query: { metrics: ["visits", "minutes"], where: [{ field: "tag.label", op: "=", value: "urgent" }] },
    sql: "select count(*), sum(minutes) from @visits v where exists (select 1 from @visit_tags x join @tags t on t.id = x.tag_id where x.visit_id = v.id and t.label = 'urgent')",
  },
  {
    title: "diagnoses of visits with a tag",
    query: {
      metrics: ["diagnoses"],
      by: ["diagnosis.code"],
      where: [{ field: "tag.label", op: "=", value: "billing" }],
    },
    sql: "select d.code, count(*) from @diagnoses d where exists (select 1 from @visit_tags x join @tags t on t.id = x.tag_id where x.visit_id = d.visit_id and t.label = 'billing') group by d.code",
  },
  {
    title: "tags that are used",
    query: { metrics: ["tags"], where: [{ field: "visit.minutes_never", op: "is_null" }] },
    refused: "unknown_name",
  },
  {
    title: "midnight in Berlin moves a visit into the new year",
    query: { metrics: ["visits"], by: ["visit.seen_berlin.year"] },
    rows: [["2026-01-01", 5]],
  },
  {
    title: "midnight in UTC does not",
    query: { metrics: ["visits"], by: ["visit.seen.year"] },
    rows: [
      ["2025-01-01", 1],
      ["2026-01-01", 4],
    ],
  },
  {
    title: "an empty table has a count of zero",
    query: { metrics: ["nothings", "nothing_amount", "nothing_share"] },
    rows: [[0, null, null]],
  },
  {
    title: "an empty table beside a full one",
    query: { metrics: ["pay_less_nothing", "nothings"], by: ["employee.grade"] },
    sql: "select grade, sum(salary), 0 from @employees group by grade",
  },
  { title: "an empty table by month is no row", query: { metrics: ["nothings"], by: ["time.month"] }, rows: [] },
  {
    title: "visits per head by grade: the role is missing",
    query: { metrics: ["visits_per_head"], by: ["employee.grade"] },
    refused: "ambiguous",
  },
  {
    title: "NULLs sort last, descending too",
    query: { metrics: ["pay"], by: ["employee.grade"], order: [{ field: "pay", descending: true }] },
    rows: [
      ["C", 10000],
      ["B", 13500],
      ["A", 9000.5],
      ["c", 4000],
      [null, null],
    ].toSorted((a, b) => Number(b[1] ?? -1) - Number(a[1] ?? -1)),
  },
  {
    title: "a filter on a metric leaves NULL out",
    query: { metrics: ["pay"], by: ["employee.grade"], where: [{ field: "pay", op: "<", value: 9000 }] },
    rows: [["c", 4000]],
  },
  {
    title: "groups without a metric",
    query: { metrics: ["headcount"], by: ["employee.grade"], where: [{ field: "pay", op: "is_null" }] },
    rows: [[null, 1]],
  },
];
