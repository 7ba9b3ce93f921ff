const LAST = 0x24_ff;

/** Letters beyond ASCII whose counterpart in the other case is one letter: Ä, but not ß or İ. */
function listed(change: (letter: string) => string): { given: string; changed: string } {
  const letters = Array.from({ length: LAST - 0x7f }, (_, at) => String.fromCodePoint(0x80 + at));
  const found = letters.filter((letter) => change(letter) !== letter && change(letter).length === 1);
  return { given: found.join(""), changed: found.map(change).join("") };
}

const LETTERS = {
  lower: listed((letter) => letter.toLowerCase()),
  upper: listed((letter) => letter.toUpperCase()),
};

/**
 * SQLite's own functions change the letters A to Z only; other databases change all. Texts with other letters go through a
 * loop over their characters, which finds each in a list.
 */
export function changedLetters(sql: string, to: "lower" | "upper"): string {
  const { given, changed: wanted } = LETTERS[to];
  const letter = "substr(source, at, 1)";
  const changed = `coalesce(nullif(substr('${wanted}', nullif(instr('${given}', ${letter}), 0), 1), ''), ${letter})`;
  const loop =
    `WITH RECURSIVE letters (source, at, done) AS (SELECT ${to}(${sql}), 1, '' ` +
    `UNION ALL SELECT source, at + 1, done || ${changed} FROM letters WHERE at <= length(source)) ` +
    `SELECT done FROM letters ORDER BY at DESC LIMIT 1`;
  return `CASE WHEN ${sql} GLOB '*[^' || char(1) || '-~]*' THEN (${loop}) ELSE ${to}(${sql}) END`;
}
