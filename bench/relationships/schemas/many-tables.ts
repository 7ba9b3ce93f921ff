import { code, type ColumnSpec, date, flag, int, money, serial, to, words, year } from "./column.ts";
import { type Schema, seededRandom, type TableSpec } from "./schema.ts";

const NOUNS =
  "account agent asset audit batch badge bill board booking branch brand bridge budget bundle campaign card carrier case channel claim class clause club contract contractor coupon course crate credit deal delivery depot device dispute document driver employee engine entry estate event exam fee file fleet folder forecast freight garage gate gift grade grant group guest harbour hotel incident invoice issue item job journey kit label lease ledger lesson licence loan lot machine market meeting member menu message meter mission model module note notice offer office option order outlet package panel parcel partner patient payment permit person plan plant player policy port portal position post price process product profile project proposal quote rack rail rate receipt recipe record region rental report request reserve resource review ride risk role room route rule salary sample schedule school season seat segment sensor server service session shelf shift ship shop signal site skill slot stage stand station step stock store study supplier supply survey table tariff task team tenant test ticket tool tour track trade train transfer trip truck unit user vault vehicle vendor venue vessel visit voucher wage warehouse warrant zone".split(
    " ",
  );
const MODULES = ["crm", "hr", "fin", "log", "mfg", "pub"];

const plural = (noun: string): string =>
  /(s|sh|ch|x)$/.test(noun) ? `${noun}es` : /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`;
const consonants = (noun: string): string => noun[0]! + noun.slice(1).replaceAll(/[aeiou]/g, "");
const pascal = (text: string): string => text.replaceAll(/(^|_)(\w)/g, (_, __, letter: string) => letter.toUpperCase());

interface Many {
  name: string;
  seed: number;
  tables: number;
  /** `modules`: crm_account with account_id; `short`: Pascal case, keys by another word, columns shortened. */
  style: "modules" | "short";
}

/** Hundreds of tables, each with one to three references to earlier ones, and columns that could be taken for some. */
export function manyTables({ name, seed, tables: count, style }: Many): Schema {
  const random = seededRandom(seed);
  const among = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!;
  const tables: Record<string, TableSpec> = {};
  const made: { table: string; key: string; entity: string; text: boolean }[] = [];
  for (let i = 0; i < count; i++) {
    const noun = NOUNS[i % NOUNS.length]!;
    const second = i < NOUNS.length ? "" : `_${["type", "line", "detail"][Math.floor(i / NOUNS.length) - 1]}`;
    const entity = `${noun}${second}`;
    const table = style === "modules" ? `${MODULES[i % MODULES.length]}_${entity}` : pascal(plural(entity));
    const key = style === "modules" ? "id" : `${pascal(entity)}No`;
    const text = i % 9 === 4;
    const columns: Record<string, ColumnSpec> = {
      [key]: text ? code("AAA#####") : serial(i % 4 === 0 ? 1000 * i + 1 : 1),
    };
    columns[style === "modules" ? "title" : "Caption"] = words();
    const references = made.length === 0 ? 0 : 1 + Math.floor(random() * 3);
    for (let r = 0; r < references; r++) {
      const target = among(made);
      const short =
        random() < 0.4
          ? consonants(target.entity.replace(/_.*/, "")) + target.entity.replace(/^[^_]*/, "")
          : target.entity;
      const column = style === "modules" ? `${target.entity}_id` : `${pascal(short)}No`;
      columns[column] ??= to(`${target.table}.${target.key}`, {
        nulls: random() < 0.3 ? 0.2 : 0,
        type: target.text ? "TEXT" : "INTEGER",
      });
    }
    columns[style === "modules" ? "quantity" : "Qty"] = int(1, 40);
    if (i % 2) columns[style === "modules" ? "is_active" : "Active"] = flag();
    if (i % 3) columns[style === "modules" ? "created_at" : "Made"] = date();
    if (i % 5 === 0) columns[style === "modules" ? "fiscal_year" : "FiscalYear"] = year();
    columns[style === "modules" ? "amount" : "Amt"] = money();
    tables[table] = { rows: i % 17 === 3 ? 0 : i % 11 === 5 ? 4 : 20 + Math.floor(random() * 300), columns };
    made.push({ table, key, entity, text });
  }
  return { name, about: `${count} tables at once, ${style}`, tables };
}
