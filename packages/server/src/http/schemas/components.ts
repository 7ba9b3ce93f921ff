import { z } from "zod";

export type Json = Record<string, unknown>;

/** Collects schemas with an id, so that each is written once. */
export class Components {
  readonly schemas: Record<string, Json> = {};
  readonly #place: string;

  /** `place`: their path in the document, such as `#/components/schemas/`. */
  constructor(place: string) {
    this.#place = place;
  }

  of(schema: z.ZodType, io: "input" | "output"): Json {
    const {
      $schema: _,
      $defs,
      ...own
    } = z.toJSONSchema(schema, { io, override: io === "input" ? shorten : shortenAndOpen }) as Json & {
      $defs?: Record<string, Json>;
    };
    const { id } = schema.meta() ?? {};
    // A schema that is recursive or described again refers to the definitions.
    const named = { ...(id !== undefined && { [id]: own }), ...$defs };
    for (const [name, definition] of Object.entries(named)) {
      const { id: _id, ...rest } = this.#relink(definition);
      this.schemas[name] ??= rest;
    }
    return id === undefined ? this.#relink(own) : { $ref: `${this.#place}${id}` };
  }

  #relink(schema: Json): Json {
    return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', `"${this.#place}`)) as Json;
  }
}

/** Later versions may add fields to what the server sends, so a client must not reject unknown ones. */
function shortenAndOpen(described: { jsonSchema: Json }): void {
  shorten(described);
  if (described.jsonSchema["additionalProperties"] === false) delete described.jsonSchema["additionalProperties"];
}

/** Zod's pattern for times is very long and says no more than the format. */
function shorten({ jsonSchema }: { jsonSchema: Json }): void {
  if (jsonSchema["format"] === "date-time") delete jsonSchema["pattern"];
}
