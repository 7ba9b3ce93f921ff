// Everything that can be asked of a thread by name. Importing a store declares its operations.
import "./agent-store.ts";
import "./environment-store.ts";
import "./event-log.ts";
import "./file-store.ts";
import "./inbox.ts";
import "./leases.ts";
import "./session-store.ts";
import "./token-store.ts";
import "./transcripts.ts";
import "./whats-new.ts";
