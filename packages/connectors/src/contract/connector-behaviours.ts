/** The contract of every connection. The suite does not compile if one is missing. */
export const BEHAVIOURS = [
  { id: "structure.tables", title: "Lists tables and views, with columns in order, their type, kind and nullability" },
  {
    id: "structure.keys",
    title: "Lists primary keys in key order, and unique keys without partial and expression keys",
  },
  { id: "structure.foreign-keys", title: "Lists foreign keys, including composite and self-referencing ones" },
  { id: "structure.comments", title: "Reads the database's comments" },
  { id: "structure.checks", title: "Lists check constraints, and the labels of enums" },
  { id: "values.exact", title: "Loses no digit; dates are ISO, binary is hex, null is null" },
  { id: "values.text", title: "Text of any script, quotes and line ends round-trip" },
  { id: "parameters.order", title: "Parameters are `?` in order, and their values are never code" },
  { id: "parameters.quoted", title: "`?` in strings, names and comments is not a parameter" },
  { id: "parameters.count", title: "Reports too few or too many parameters" },
  { id: "limits.rows", title: "Returns at most the requested rows, and reports truncation" },
  {
    id: "limits.bytes",
    title: "Returns at most the requested bytes; truncates a long value without losing other rows",
  },
  { id: "limits.endless", title: "Returns the first rows of an endless result at once" },
  { id: "limits.deadline", title: "A slow query ends at its deadline, and the next one works" },
  { id: "limits.abort", title: "A query ends when its signal fires, and does not start if it has fired" },
  { id: "limits.at-once", title: "More concurrent queries than connections all complete" },
  { id: "refuse.attempts", title: "Rejects every attempt to write or to reach outside, and changes nothing" },
  { id: "refuse.second-line", title: "Without the query check, the session or the file still rejects writes" },
  { id: "allow.queries", title: "Accepts every read-only query" },
  { id: "errors.not-there", title: "Reports a missing table or column" },
  { id: "errors.query", title: "Explains an invalid query in one sentence, with a fix" },
  { id: "errors.closed", title: "Reports that a connection was closed" },
  { id: "estimate.plan", title: "Estimates a query's reads without running it" },
  // Last, because its tables stay.
  { id: "structure.thousand", title: "Reads a thousand tables within seconds" },
] as const;

export type BehaviourId = (typeof BEHAVIOURS)[number]["id"];
