import { z } from "zod";

export type Json = Record<string, unknown>;

/** Schemas with an id stand once, wherever they are used. */
export class Components {
  readonly schemas: Record<string, Json> = {};
  readonly #place: string;

  /** With where they stand in their document: `#/components/schemas/`. */
  constructor(place: string) {
    this.#place = place;
  }

  of(schema: z.ZodType, io: "input" | "output"): Json {
    const {
      $schema: _,
      $defs,
      ...own
    } = z.toJSONSchema(schema, { io, override: shorten }) as Json & { $defs?: Record<string, Json> };
    const { id } = schema.meta() ?? {};
    // Where a schema is used within itself, or described once more, what it is stands among the definitions.
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

/** Zod's pattern for times is a page long and says no more than the format. */
function shorten({ jsonSchema }: { jsonSchema: Json }): void {
  if (jsonSchema["format"] === "date-time") delete jsonSchema["pattern"];
}
