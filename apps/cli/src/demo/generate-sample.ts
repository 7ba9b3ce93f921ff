type Schema = Record<string, unknown>;

const isSchema = (value: unknown): value is Schema => typeof value === "object" && value !== null;

/** Generates a value that matches a simple JSON Schema, for scripted answers. */
export function generateSample(schema: unknown): unknown {
  if (!isSchema(schema)) return "";
  if ("const" in schema) return schema["const"];
  const first = (key: string): unknown => (Array.isArray(schema[key]) ? (schema[key] as unknown[])[0] : undefined);
  if (Array.isArray(schema["enum"])) return first("enum");
  const branch = first("anyOf") ?? first("oneOf");
  if (branch !== undefined) return generateSample(branch);
  const type = first("type") ?? schema["type"];
  const minimum = typeof schema["minimum"] === "number" ? schema["minimum"] : 1;
  switch (type) {
    case "string":
      return "demo".padEnd(typeof schema["minLength"] === "number" ? schema["minLength"] : 0, ".");
    case "number":
    case "integer":
      return minimum;
    case "boolean":
      return true;
    case "null":
      return null;
    case "array":
      return [generateSample(schema["items"])];
    default: {
      const properties = isSchema(schema["properties"]) ? schema["properties"] : {};
      return Object.fromEntries(Object.entries(properties).map(([name, child]) => [name, generateSample(child)]));
    }
  }
}
