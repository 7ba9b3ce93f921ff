import type { Cell, World } from "./scenario.ts";

/** Changes of a world that change no answer, by name. */
export const TRANSFORMS: Readonly<Record<string, (world: World) => World>> = {
  "unused tables below every table": (world) => extended(world, "below"),
  "unused tables above every table": (world) => extended(world, "above"),
  "other order of rows, columns, tables and definitions": reversed,
  "rows in tables that nothing refers to, twice": (world) => doubled(extended(world, "below")),
};

/** Below: three rows of a new table refer to each row. Above: each row refers to one of two rows of a new table. */
function extended(world: World, place: "above" | "below"): World {
  const tables = Object.entries(world.tables).flatMap(([name, table]): [string, World["tables"][string]][] => {
    const columns = table.columns.split(",").map((text) => text.trim());
    const keys = table.key.map((key) => columns.find((column) => column.startsWith(`${key} `))!);
    const keyOf = (row: readonly Cell[]): Cell[] => keys.map((key) => row[columns.indexOf(key)]!);
    const other = `noise_${name}`;
    if (place === "below") {
      const rows = table.rows.flatMap((row, at) => [0, 1, 2].map((more): Cell[] => [at * 3 + more, 7, ...keyOf(row)]));
      const references = keys.map((key) => `noise_${key}`);
      const from = table.key.map((key) => `noise_${key}`).join(", ");
      return [
        [name, table],
        [
          other,
          {
            columns: `noise_key int, amount int, ${references.join(", ")}`,
            key: ["noise_key"],
            joins: [`${from} → ${name}`],
            rows,
          },
        ],
      ];
    }
    return [
      [
        name,
        {
          ...table,
          columns: `${table.columns}, noise_id int`,
          joins: [...(table.joins ?? []), `noise_id → ${other}`],
          rows: table.rows.map((row, at) => [...row, at % 3 === 2 ? null : (at % 3) + 1]),
        },
      ],
      [
        other,
        {
          columns: "noise_id int, amount int",
          key: ["noise_id"],
          rows: [
            [1, 5],
            [2, 6],
          ],
        },
      ],
    ];
  });
  const files = Object.keys(world.tables).map((name) => ({
    entity: `noise_${name}`,
    table: `noise_${name}`,
    grain: [place === "below" ? "noise_key" : "noise_id"],
    measures: { amount: { sum: "amount" } },
    metrics: { [`noise_of_${name}`]: { measure: "amount" } },
  }));
  return { ...world, tables: Object.fromEntries(tables), files: [...files, ...world.files] };
}

function doubled(world: World): World {
  const tables = Object.entries(world.tables).map(([name, table]) => {
    const more = name.startsWith("noise_")
      ? table.rows.map(([id, ...rest]): Cell[] => [Number(id) + 10_000, ...rest])
      : [];
    return [name, { ...table, rows: [...table.rows, ...more] }] as const;
  });
  return { ...world, tables: Object.fromEntries(tables) };
}

function reversed(world: World): World {
  const tables = Object.entries(world.tables).map(([name, table]) => {
    const columns = table.columns.split(",").map((text) => text.trim());
    return [
      name,
      {
        ...table,
        columns: columns.toReversed().join(", "),
        joins: table.joins?.toReversed(),
        rows: table.rows.toReversed().map((row) => row.toReversed()),
      },
    ] as const;
  });
  const files = world.files.toReversed().map((file) => Object.fromEntries(Object.entries(file).toReversed()));
  return { ...world, tables: Object.fromEntries(tables.toReversed()), files };
}
