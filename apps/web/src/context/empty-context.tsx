import { ShellCommand } from "./shell-command.tsx";

/** Setup steps for a project without databases and documents. */
export function EmptyContext() {
  return (
    <div className="min-h-0 flex-1 overflow-y-auto">
      <div className="mx-auto max-w-lg px-4 py-12">
        <h2 className="text-base font-semibold">This project has no context yet</h2>
        <p className="mt-1 text-ink-soft">
          Name a database, or documents in <code className="font-mono text-xs">tandem.yaml</code>. What agents make of
          them is proposed to you, and what you accept is found by every agent.
        </p>
        <ol className="mt-5 space-y-3">
          <Step words="Name a database: SQLite, DuckDB, Postgres, MySQL or MariaDB.">
            tandem connections add shop shop.sqlite
          </Step>
          <Step words="Start the server again, and have it read.">tandem scan</Step>
          <Step words="With documents named under ingest.sources, read those too.">tandem ingest</Step>
        </ol>
        <p className="mt-5 text-sm text-ink-faint">
          To see one first: <code className="font-mono text-xs">tandem demo context</code> makes a small shop that does
          not exist.
        </p>
      </div>
    </div>
  );
}

function Step({ words, children }: { words: string; children: string }) {
  return (
    <li>
      <p className="mb-1 text-sm text-ink-soft">{words}</p>
      <ShellCommand>{children}</ShellCommand>
    </li>
  );
}
