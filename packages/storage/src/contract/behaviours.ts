/**
 * What every store does, whatever the database. Each entry is verified on both engines by the contract suite, which fails
 * to compile if one is left out.
 */
export const BEHAVIOURS = [
  // The log
  {
    id: "log.sequence",
    title: "Concurrent appends to several sessions are numbered without gaps, in the order of the calls",
  },
  { id: "log.as-it-was", title: "An event comes back as it was, whatever its text; times to the millisecond" },
  { id: "log.range", title: "A range is read up and down, by type, thread and time" },
  { id: "log.long", title: "A long log and long events are read whole" },
  { id: "log.heavy", title: "Many long events take no longer to read together than each by itself" },
  { id: "log.find", title: "An event is found by its id, and the head is the last number" },
  { id: "log.together", title: "Events, the session's row, threads and taken inbox entries are written together" },
  { id: "log.fence", title: "A writer that lost its lease is refused, and nothing of its append is written" },
  { id: "log.released", title: "A lease that was given back is no longer good" },
  { id: "log.one-fails", title: "An append that fails leaves those beside it alone, and no gap" },
  { id: "log.crosswise", title: "Processes that write many sessions at once, their own and each other's, all get on" },
  { id: "log.repeated", title: "An append that is repeated after its answer was lost is stored once" },

  // Following it
  {
    id: "follow.exactly-once",
    title: "A follower from the middle sees each event once, in order, while others append",
  },
  { id: "follow.at-once", title: "A follower that waits has an event before its append resolves; so do listeners" },
  { id: "follow.slow", title: "A follower that does not keep up misses nothing" },
  { id: "follow.others", title: "Appends through another connection are followed" },
  {
    id: "follow.handover",
    title: "A follower sees all of a log whose writer changes from one process to another and back",
  },
  { id: "follow.process", title: "Appends of another process are followed" },
  { id: "follow.abort", title: "Following ends when the signal fires, and at once if it has" },
  { id: "follow.deleted", title: "Following ends when the session is deleted, here or elsewhere, or was never there" },

  // The inbox
  { id: "inbox.order", title: "What waits is listed in the order it came, with the sessions that have something" },
  { id: "inbox.none-or-all", title: "A put is stored whole or not at all, and only for a session that exists" },
  { id: "inbox.taken", title: "What an append takes is gone from the inbox if the append succeeds, and only then" },
  { id: "inbox.on-put", title: "Listeners hear of each put, here and elsewhere" },

  // Leases
  { id: "lease.one-holder", title: "Of many that take a lease at once, one gets it; the others see who" },
  { id: "lease.run-out", title: "A lease that ran out is taken over, and its former holder finds it lost" },
  { id: "lease.kept", title: "A lease that ran out is still good while nobody has taken it" },
  { id: "lease.token", title: "Tokens grow with every taker, and are never used again" },
  { id: "lease.abandoned", title: "Sessions that run without a holder are found" },
  { id: "lease.wanted", title: "Sessions that need a worker are found, with their place and since when" },
  { id: "lease.held", title: "What is held is listed, by holder" },
  { id: "lease.no-session", title: "There is no lease on a session that does not exist" },

  // Sessions
  { id: "session.as-it-was", title: "A session comes back as it was created, with its primary thread and inbox" },
  { id: "session.conflict", title: "An id that is there already is a conflict, and nothing is written" },
  { id: "session.pages", title: "Pages go both ways to exact ends, and stay put while rows come and go" },
  { id: "session.filters", title: "Lists are filtered by archive, agent, version, status and time of creation" },
  { id: "session.cursor", title: "A cursor that is not this list's is refused with what to do" },
  { id: "session.place", title: "A session's place is kept and changed, and those that wait for somebody are listed" },
  { id: "session.delete", title: "A deleted session leaves no trace; another is not touched" },
  { id: "session.delete-fenced", title: "Only the holder of the lease can delete" },
  { id: "session.usage", title: "Usage is summed by day and agent" },

  // Other resources
  { id: "agent.versions", title: "Agents have versions: the newest, a certain one, all of them by page" },
  { id: "agent.conflict", title: "Of two that add the same version at once, one is refused" },
  { id: "agent.archive", title: "An archived agent is listed only where asked for" },
  { id: "environment.life", title: "Environments are created, updated, listed and deleted" },
  { id: "environment.in-use", title: "An environment in use by a session that is not archived cannot be deleted" },
  { id: "file.content", title: "A file's bytes come back as they were, from none to several parts" },
  { id: "file.list", title: "Files are listed by id and by session" },
  {
    id: "transcript.lines",
    title: "Lines keep their order; one that is there already is passed over; each subpath by itself",
  },
  { id: "transcript.replace", title: "A transcript is replaced whole" },
  { id: "transcript.fenced", title: "Only the holder of the lease writes transcripts" },
  { id: "token.life", title: "Tokens are found by hash, listed, touched and deleted" },

  // Records and blobs
  { id: "record.as-it-was", title: "A value comes back as it was, whatever its text, up to several megabytes" },
  { id: "record.order", title: "Records are listed by code point, up and down, by prefix and page" },
  { id: "record.apart", title: "Spaces and kinds see nothing of each other" },
  { id: "record.versions", title: "A change that expects another version is a conflict that names the key" },
  { id: "record.all-or-none", title: "Thousands of changes are written together, or none of them" },
  {
    id: "record.at-once",
    title: "Of changes to one version at once, one is stored; others of the same keys all get on",
  },
  { id: "record.names", title: "A name that cannot be kept is refused, alike for all" },
  { id: "blob.content", title: "Content comes back by its hash, from none to several parts, and is stored once" },
  { id: "blob.prune", title: "What is not to be kept is removed, in its space alone" },

  // Jobs
  { id: "job.as-it-was", title: "A job comes back as it was created; its id is its own" },
  { id: "job.pages", title: "Jobs are listed by space, kind and state, by page" },
  { id: "job.lease", title: "One holder at a time; one that has ended is not taken" },
  { id: "job.waiting", title: "Jobs that are queued, or were left while they ran, are found" },
  { id: "job.interrupted", title: "A job that was begun and that nobody holds is read as interrupted" },
  { id: "job.write", title: "Events and the row are written together, numbered without gaps" },
  { id: "job.fence", title: "Who lost a job, or goes on after its end, is refused, and nothing is written" },
  { id: "job.follow", title: "A follower, here or elsewhere, sees each event once, until the job has ended" },
  { id: "job.follow-quiet-end", title: "Following ends with the job, also if it ends without a word or had ended" },
  { id: "job.follow-slow", title: "A follower that does not keep up misses nothing of a job that has ended" },
  { id: "job.cancel", title: "Who works on a job sees that it is to stop" },
  { id: "job.delete", title: "A deleted job leaves no trace; one that is held stays" },
  { id: "job.killed", title: "A job whose process was killed is taken by another, and goes on where it was" },
  { id: "job.no-session", title: "A job is not mistaken for a session" },
  { id: "space.delete", title: "A deleted space leaves no trace, and another is not touched; not while a job is held" },

  // Search
  { id: "search.languages", title: "Words of every script are found, with and without their marks" },
  { id: "search.unspaced", title: "Parts of phrases are found in scripts without spaces" },
  { id: "search.identifiers", title: "Identifiers are found by their parts, and however they are written" },
  { id: "search.prefix", title: "The last word may be unfinished; plurals and singulars find each other" },
  { id: "search.any-text", title: "Any text is a query, and none is an expression" },
  { id: "search.ranks", title: "Exact names first, then all words, then some; titles and rare words count more" },
  { id: "search.many", title: "Common words among many documents: titles first, and rare words decide" },
  { id: "search.snippets", title: "A snippet is the best passage in its own spelling, with what was found in « »" },
  { id: "search.filters", title: "Kinds and filters are exact, also by meaning; spaces see nothing of each other" },
  { id: "search.replaced", title: "A document put again replaces the former; one that is removed is found no more" },
  { id: "search.hashes", title: "Hashes of all that is there are listed, by kind, however many" },
  { id: "search.meaning", title: "The nearest vectors of the query's model are found, and fused with words" },
  { id: "search.vectors-change", title: "Vectors that another process changed or removed are seen at once" },
  { id: "search.refused", title: "What cannot be stored is refused in words; odd text is stored" },
  { id: "search.space-deleted", title: "A deleted space leaves none of its words, and its name can be used again" },

  // The audit
  { id: "audit.chain", title: "Entries of several writers at once are one chain, without gaps" },
  { id: "audit.as-it-was", title: "An entry comes back as it was, whatever its text" },
  { id: "audit.cursor", title: "Of many that have read the same part of a log, one enters what it says" },
  { id: "audit.outlives", title: "A deleted session leaves its entries" },
  { id: "audit.list", title: "Entries are listed by session, actor, kind and time, and by page" },
  { id: "audit.tampered", title: "What was changed, taken out or cut off is found, and the first of it named" },

  // Spending
  {
    id: "spending.together",
    title: "Of many that reserve at once, as many get it as fit; the others see what is left",
  },
  { id: "spending.all-or-none", title: "A reservation is made on all accounts or on none, and what was spent counts" },
  { id: "spending.once", title: "What a session has spent counts once, however often it is said, and as its log says" },
  { id: "spending.days", title: "What a session spends from a new account on is that one's alone" },
  { id: "spending.before", title: "What a session had spent before it was first counted is not counted" },
  { id: "spending.lease", title: "A reservation goes with its lease: given back, run out, taken over, deleted" },
  { id: "spending.fenced", title: "Who lost a session counts and reserves nothing for it" },

  // Tenants
  { id: "tenant.life", title: "Tenants are created, listed, changed, archived; the default one is always there" },
  { id: "tenant.apart", title: "Tenants see nothing of each other, though they use the same ids" },
  { id: "tenant.bells", title: "What happens in one tenant is heard in it, here and elsewhere, and in no other" },
  { id: "tenant.crowd", title: "Many tenants at once, through the same connections: each gets its own" },
  { id: "tenant.delete", title: "A deleted tenant leaves no trace, and its id can be used again; not before archived" },
  { id: "tenant.closed", title: "A tenant's store is one, is opened again after it was closed, and closed with all" },

  // Workers
  { id: "worker.life", title: "Workers say that they live, are listed, fall silent, and are forgotten" },

  // The whole
  { id: "archive.round-trip", title: "An exported session is imported elsewhere as it was" },
  { id: "archive.new-id", title: "An import of an id that is there is a conflict, unless it gets a new one" },
  { id: "archive.refused", title: "A damaged or cut-off export is refused, and nothing is stored" },
  { id: "schema.concurrent", title: "An empty database that many open at once is migrated once" },
  { id: "schema.reopened", title: "What was stored is there after closing and opening again" },
  { id: "schema.newer", title: "A newer schema is refused, and left as it is" },
  { id: "schema.one-newer", title: "One version more, that says it is compatible, is worked with" },
  { id: "schema.upgraded", title: "What an older Tandem stored is there after the upgrade, and found" },
  { id: "store.describe", title: "A store says what and where it is, and checks itself" },
  { id: "store.closed", title: "A closed store refuses; what was under way is done" },
] as const satisfies readonly { id: string; title: string }[];

export type BehaviourId = (typeof BEHAVIOURS)[number]["id"];
