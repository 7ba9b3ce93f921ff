import type { Connection } from "@tandem/connectors";

/** The connection with some methods replaced. */
export function withMethods(connection: Connection, change: Partial<Connection>): Connection {
  return {
    dialect: connection.dialect,
    structure: (options) => connection.structure(options),
    query: (sql, options) => connection.query(sql, options),
    estimate: (sql, options) => connection.estimate(sql, options),
    quote: (name) => connection.quote(name),
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
    ...change,
  };
}
