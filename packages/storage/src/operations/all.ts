// Everything that a thread can be asked for by name: importing a file declares its operations.
import "./agents.ts";
import "./blobs.ts";
import "./environments.ts";
import "./events.ts";
import "./files.ts";
import "./inbox.ts";
import "./jobs.ts";
import "./leases.ts";
import "./migrations.ts";
import "./records.ts";
import "./search-documents.ts";
import "./search-terms.ts";
import "./search-vectors.ts";
import "./sessions.ts";
import "./tokens.ts";
import "./transcripts.ts";
import "./whats-new.ts";
