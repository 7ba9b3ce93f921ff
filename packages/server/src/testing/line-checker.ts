import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv";
import { stdioSchema } from "../stdio/stdio-schema.ts";

type Line = Record<string, unknown>;
type Check = (value: unknown) => void;

// Ajv warns about unknown formats; `contentEncoding` says the same.
const schema = JSON.parse(JSON.stringify(stdioSchema()).replaceAll('"format":"base64",', "")) as Line;
const ajv = new AjvJsonSchemaValidator();
const checks = new Map<string, Check>();

/** Fails if a value does not match this definition of the published schema. */
function check(definition: string, value: unknown): void {
  let known = checks.get(definition);
  if (!known) {
    const validate = ajv.getValidator({ ...schema, anyOf: [{ $ref: `#/$defs/${definition}` }] });
    known = (one) => {
      const { valid, errorMessage } = validate(one);
      if (!valid) throw new Error(`${definition}: ${errorMessage}\n${JSON.stringify(one).slice(0, 2_000)}`);
    };
    checks.set(definition, known);
  }
  known(value);
}

/** Validates every line of a conversation against the schema: by its kind and by the method that it answers. */
export class LineChecker {
  readonly #methods = new Map<unknown, string>();

  sent(line: Line): void {
    if (typeof line["method"] === "string") this.#methods.set(line["id"], line["method"]);
    check(`Request.${String(line["method"])}`, line);
  }

  /** Records a request that is invalid on purpose. */
  sentWrong(line: Line): void {
    this.#methods.delete(line["id"]);
  }

  received(line: Line): void {
    check("TandemLine", line);
    if ("result" in line) check(`Result.${this.#methods.get(line["id"])}`, line["result"]);
    if ("event" in line) check(`Event.${this.#methods.get(line["stream"])}`, line["event"]);
  }
}
