/**
 * A condition or a value as text that is equal for equal meanings: sorted where order does not matter, with one spelling for each
 * comparison. Statements and metric definitions are brought into it.
 */
export interface NormalForm {
  readonly text: string;
  /** `schema.table.column` of each column in it. */
  readonly columns: ReadonlySet<string>;
}

export const leaf = (text: string): NormalForm => ({ text, columns: new Set() });
export const columnForm = (column: string): NormalForm => ({ text: column, columns: new Set([column]) });
export const textForm = (value: string): NormalForm => leaf(`'${value.replaceAll("'", "''")}'`);
/** `1.50` and `1.5` are one number. */
export const numberForm = (value: string): NormalForm => leaf(String(Number(value)));

export function combine(name: string, operands: readonly NormalForm[], isSorted = false): NormalForm {
  const texts = operands.map(({ text }) => text);
  return {
    text: `${name}(${(isSorted ? texts.toSorted() : texts).join(", ")})`,
    columns: new Set(operands.flatMap(({ columns }) => [...columns])),
  };
}

const TURNED: Readonly<Record<string, string>> = { ">": "<", ">=": "<=" };
const OPPOSITE: Readonly<Record<string, string>> = { "=": "<>", "<>": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<" };

export function compareForms(operator: string, left: NormalForm, right: NormalForm): NormalForm {
  const turned = TURNED[operator];
  if (turned !== undefined) return combine(turned, [right, left]);
  return combine(operator, [left, right], operator === "=" || operator === "<>");
}

/** `not a = b` is `a <> b`, with the same NULLs. */
export function negateForm(operator: string | undefined, left: NormalForm, right: NormalForm): NormalForm | undefined {
  const opposite = operator === undefined ? undefined : OPPOSITE[operator];
  return opposite === undefined ? undefined : compareForms(opposite, left, right);
}

export function arithmeticForm(operator: string, left: NormalForm, right: NormalForm): NormalForm {
  return combine(operator, [left, right], operator === "+" || operator === "*");
}
