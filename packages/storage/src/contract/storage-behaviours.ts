/**
 * The contract of every store. The suite verifies each entry on both engines, and does not compile if one is missing.
 */
export const BEHAVIOURS = [
  // The log
  {
    id: "log.sequence",
    title: "Concurrent appends to several sessions get gapless numbers, in the order of the calls",
  },
  { id: "log.as-it-was", title: "An event round-trips with any text; times keep milliseconds" },
  { id: "log.range", title: "A range is read in both directions, filtered by type, thread and time" },
  { id: "log.long", title: "A long log and long events are read completely" },
  { id: "log.heavy", title: "Reading many long events together takes no longer than one by one" },
  { id: "log.find", title: "An event is found by its id, and the head is the last number" },
  { id: "log.together", title: "Events, the session's row, threads and consumed inbox entries are written atomically" },
  { id: "log.fence", title: "A stale writer is rejected, and nothing of its append is written" },
  { id: "log.released", title: "A released lease cannot write" },
  { id: "log.one-fails", title: "A failed append affects no other append of its batch and leaves no gap" },
  { id: "log.crosswise", title: "Processes that write many shared sessions at once do not deadlock" },
  { id: "log.repeated", title: "A retried append, whose response was lost, is stored once" },

  // Following a log
  {
    id: "follow.exactly-once",
    title: "A follower that starts in the middle sees each event once, in order, during appends",
  },
  { id: "follow.at-once", title: "A waiting follower and listeners get an event before its append resolves" },
  { id: "follow.slow", title: "A slow follower misses nothing" },
  { id: "follow.others", title: "A follower sees appends of another connection" },
  {
    id: "follow.handover",
    title: "A follower misses nothing while the writer changes between processes",
  },
  { id: "follow.process", title: "A follower sees appends of another process" },
  { id: "follow.abort", title: "Following ends when the signal fires, and at once if it has fired already" },
  { id: "follow.deleted", title: "Following ends when the session is deleted by any process, or does not exist" },

  // The inbox
  { id: "inbox.order", title: "Waiting input is listed in order of arrival, together with its sessions" },
  { id: "inbox.none-or-all", title: "A put is atomic, and rejected for an unknown session" },
  { id: "inbox.after", title: "Of two puts after the same position, one is refused" },
  { id: "inbox.taken", title: "An append removes the inbox entries it consumes only if it succeeds" },
  { id: "inbox.on-put", title: "Listeners are called for each put of this and other processes" },

  // Leases
  { id: "lease.one-holder", title: "One of many concurrent takers gets the lease; the others see its holder" },
  { id: "lease.run-out", title: "An expired lease is taken over, and its former holder learns that it is lost" },
  { id: "lease.dead", title: "A lease whose holder died on this machine is free at once, also that of a job" },
  { id: "lease.kept", title: "An expired lease still works until another process takes it" },
  { id: "lease.token", title: "Tokens grow with each take and are never reused" },
  { id: "lease.abandoned", title: "Running sessions without a lease holder are found" },
  { id: "lease.wanted", title: "Sessions that need a worker are found, with their place and waiting time" },
  { id: "lease.held", title: "Held leases are listed with their holders" },
  { id: "lease.no-session", title: "Taking a lease on an unknown session is rejected" },

  // Sessions
  { id: "session.as-it-was", title: "A session round-trips with its primary thread and inbox" },
  { id: "session.conflict", title: "Creating an existing id is a conflict and writes nothing" },
  { id: "session.pages", title: "Pages go in both directions to exact ends, and stay stable while rows change" },
  { id: "session.filters", title: "Lists are filtered by archive, agent, version, status and creation time" },
  { id: "session.cursor", title: "A foreign cursor is rejected with a fix" },
  { id: "session.place", title: "A session's place can be changed, and waiting sessions are listed" },
  { id: "session.deployment", title: "Lists the sessions of a deployment" },
  { id: "session.delete", title: "Deleting a session removes all its data and touches no other session" },
  { id: "session.delete-fenced", title: "Only the lease holder can delete a session" },
  { id: "session.usage", title: "Usage is summed by day and agent" },

  // Other resources
  { id: "agent.versions", title: "Agents are read by newest version, by exact version and as a list of versions" },
  { id: "agent.conflict", title: "One of two concurrent additions of the same version is rejected" },
  { id: "agent.archive", title: "Archived agents are listed only on request" },
  { id: "environment.life", title: "Environments are created, updated, listed and deleted" },
  { id: "environment.in-use", title: "An environment used by an unarchived session cannot be deleted" },
  { id: "file.content", title: "File content round-trips, from empty to several chunks" },
  { id: "file.list", title: "Files are listed by id and by session" },
  {
    id: "transcript.lines",
    title: "Lines keep their order, duplicates are skipped, and subpaths are separate",
  },
  { id: "transcript.replace", title: "A transcript is replaced completely" },
  { id: "transcript.fenced", title: "Only the lease holder writes transcripts" },
  { id: "token.life", title: "Tokens are found by hash, listed, touched and deleted" },

  // Records and blobs
  { id: "record.as-it-was", title: "A value round-trips with any text, up to several megabytes" },
  { id: "record.order", title: "Records are listed by code point, in both directions, by prefix and page" },
  { id: "record.apart", title: "Spaces and kinds are isolated from each other" },
  { id: "record.versions", title: "A change with a stale version is a conflict that names the key" },
  { id: "record.all-or-none", title: "Thousands of changes are written atomically" },
  {
    id: "record.at-once",
    title: "One of several concurrent changes to a version wins; unconditional changes do not deadlock",
  },
  {
    id: "announcement.committed",
    title: "A change and its announcements are one commit; nothing is written unless an endpoint wants the type",
  },
  { id: "record.names", title: "A name that cannot be stored is rejected on both engines" },
  { id: "blob.content", title: "Content is found by its hash, from empty to several chunks, and stored once" },
  { id: "blob.prune", title: "Prune removes unreferenced blobs of its own space only" },

  // Jobs
  { id: "job.as-it-was", title: "A job round-trips, and its id is unique" },
  { id: "job.pages", title: "Jobs are listed by space, kind and state, by page" },
  { id: "job.lease", title: "A job has one holder at a time, and an ended job cannot be taken" },
  { id: "job.alone", title: "Of several jobs of a kind, one at a time is taken alone" },
  { id: "job.waiting", title: "Queued and abandoned jobs are found" },
  { id: "job.interrupted", title: "A running job without a lease holder is read as interrupted" },
  { id: "job.write", title: "Events and the row are written atomically and numbered without gaps" },
  { id: "job.fence", title: "A write with a lost lease or after the job's end is rejected and writes nothing" },
  { id: "job.follow", title: "Followers in any process see each event once, until the job ends" },
  {
    id: "job.follow-quiet-end",
    title: "Following ends with the job, even if no event marks its end or it ended before",
  },
  { id: "job.follow-slow", title: "A slow follower misses nothing of an ended job" },
  { id: "job.cancel", title: "The worker of a job sees the cancel request" },
  { id: "job.delete", title: "Deleting a job removes all its data; a held job cannot be deleted" },
  { id: "job.killed", title: "A job of a killed process is taken by another and resumed" },
  { id: "job.no-session", title: "A job is not listed as a session" },
  {
    id: "space.delete",
    title: "Deleting a space removes all its data and no other's; it is refused while a job is held",
  },

  // Search
  { id: "search.languages", title: "Words in every script are found, with and without diacritics" },
  { id: "search.unspaced", title: "Parts of phrases are found in scripts without spaces" },
  { id: "search.identifiers", title: "Identifiers are found by their parts, in any case style" },
  { id: "search.prefix", title: "The last word matches as a prefix; plurals and singulars match each other" },
  { id: "search.any-text", title: "Any text is a valid query, and none is parsed as an expression" },
  { id: "search.ranks", title: "Exact names rank first, then all words, then some; titles and rare words weigh more" },
  { id: "search.many", title: "With common words in many documents, titles rank first and rare words decide" },
  { id: "search.snippets", title: "A snippet is the best passage in its original spelling, with matches in « »" },
  { id: "search.filters", title: "Kinds and filters are exact, also for vectors; spaces are isolated" },
  { id: "search.replaced", title: "Putting a document again replaces it; a removed one is no longer found" },
  { id: "search.hashes", title: "Hashes of all documents are listed by kind, in any number" },
  { id: "search.meaning", title: "The nearest vectors of the query's model are found and fused with full text" },
  { id: "search.vectors-change", title: "Vectors changed or removed by another process are seen at once" },
  { id: "search.refused", title: "Invalid documents are rejected with a message; unusual text is stored" },
  { id: "search.space-deleted", title: "Deleting a space removes its words, and its name can be reused" },

  // The audit
  { id: "audit.chain", title: "Concurrent writers append to one gapless chain" },
  { id: "audit.as-it-was", title: "An entry round-trips with any text" },
  { id: "audit.cursor", title: "One of several processes that read the same part of a log writes its entries" },
  { id: "audit.outlives", title: "Entries outlive a deleted session" },
  { id: "audit.list", title: "Entries are listed by session, actor, kind and time, and by page" },
  { id: "audit.tampered", title: "A changed, removed or truncated entry is detected, and the first one is named" },

  // Spending
  {
    id: "spending.together",
    title: "Concurrent reservations succeed while they fit; the others see the remaining amount",
  },
  {
    id: "spending.all-or-none",
    title: "A reservation is made on all accounts or none, and spending is always counted",
  },
  { id: "spending.once", title: "Spending is counted once per total, however often it is reported" },
  { id: "spending.days", title: "Spending after the switch to a new account is charged to that account only" },
  { id: "spending.before", title: "Spending before the first report is not counted" },
  { id: "spending.lease", title: "A reservation ends with its lease: released, expired, taken over or deleted" },
  { id: "spending.charge", title: "Spending of no session is charged on all accounts or none, next to reservations" },
  { id: "spending.fenced", title: "A stale writer can neither count nor reserve" },

  // Tenants
  { id: "tenant.life", title: "Tenants are created, listed, changed and archived; the default tenant always exists" },
  { id: "tenant.apart", title: "Tenants are isolated from each other, even with equal ids" },
  {
    id: "tenant.bells",
    title: "Notifications reach listeners of their own tenant in any process, and no other tenant's",
  },
  { id: "tenant.crowd", title: "Many tenants share connections without mixing their tables" },
  { id: "tenant.delete", title: "Deleting an archived tenant removes all its data, and its id can be reused" },
  { id: "tenant.closed", title: "A tenant's store is cached, reopened after closing, and closed with the root store" },

  // Workers
  { id: "worker.life", title: "Workers send heartbeats, are listed, expire, and are forgotten" },

  // Archive, schema and store
  { id: "archive.round-trip", title: "An exported session is imported into another store unchanged" },
  { id: "archive.new-id", title: "Importing an existing id is a conflict, unless a new id is given" },
  { id: "archive.refused", title: "A damaged or truncated export is rejected, and nothing is stored" },
  { id: "schema.concurrent", title: "An empty database opened by many processes at once is migrated once" },
  { id: "schema.reopened", title: "Stored data survives closing and reopening" },
  { id: "schema.newer", title: "A newer schema is rejected and left unchanged" },
  { id: "schema.one-newer", title: "A schema one version newer is accepted if marked compatible" },
  { id: "schema.upgraded", title: "Data of an older Tandem is kept and found after the upgrade" },
  { id: "store.describe", title: "A store describes its engine and location, and checks itself" },
  { id: "store.closed", title: "A closed store rejects calls; calls in progress complete" },
] as const satisfies readonly { id: string; title: string }[];

export type BehaviourId = (typeof BEHAVIOURS)[number]["id"];
