/** What every connection does, whatever the database. The suite fails to compile if one is left out. */
export const BEHAVIOURS = [
  {
    id: "structure.tables",
    title: "Tables and views, their columns in order, with type, kind and whether they may be null",
  },
  {
    id: "structure.keys",
    title: "Primary keys in the key's own order; unique ones without partial ones and expressions",
  },
  { id: "structure.foreign-keys", title: "Foreign keys, composite ones paired one by one, and to the table itself" },
  { id: "structure.comments", title: "The database's own comments" },
  { id: "values.exact", title: "No digit is lost, dates are ISO, binary is hex, null is null" },
  { id: "values.text", title: "Text of any script, quotes and line ends come back as they are" },
  { id: "parameters.order", title: "Parameters are `?` in order, and nothing in them is code" },
  { id: "parameters.quoted", title: "`?` in texts, names and comments is none" },
  { id: "parameters.count", title: "Too few or too many parameters are said" },
  { id: "limits.rows", title: "Not more rows than asked for, and word that there were more" },
  { id: "limits.bytes", title: "Not more bytes than asked for; a long value is cut, the rows beside it are not lost" },
  { id: "limits.endless", title: "Of a result without end the first rows come at once" },
  { id: "limits.deadline", title: "A query that takes too long ends by its deadline, and the next one works" },
  { id: "limits.abort", title: "A query ends when its signal fires, and none begins when it has" },
  { id: "limits.at-once", title: "More queries at once than there are connections all get their answers" },
  { id: "refuse.attempts", title: "Every attempt to write or to reach outside is refused, and nothing has changed" },
  { id: "refuse.second-line", title: "Past the judge, the session or the file itself refuses to write" },
  { id: "allow.queries", title: "What only reads is not refused, whatever it looks like" },
  { id: "errors.not-there", title: "A table or column that is not there is said to be so" },
  { id: "errors.query", title: "What is wrong with a query is said in one sentence, with what to do" },
  { id: "errors.closed", title: "A connection that was closed says so" },
  { id: "estimate.plan", title: "What a query would read is estimated without running it" },
  // The last one, because its tables stay.
  { id: "structure.thousand", title: "A thousand tables within seconds" },
] as const;

export type BehaviourId = (typeof BEHAVIOURS)[number]["id"];
