import { History, Trash2 } from "lucide-react";
import { useLive } from "../../live/live-value.ts";
import { ago, duration } from "../../text/format.ts";
import { Button } from "../../ui/button.tsx";
import { type PastQuery, sqlHistory } from "./sql-history.ts";

/** The queries of this browser. Choosing one puts it into the editor, without running it. */
export function HistoryList({ onChoose }: { onChoose: (query: PastQuery) => void }) {
  const past = useLive(sqlHistory);
  return (
    <section aria-labelledby="sql-history">
      <div className="mb-1.5 flex items-center gap-2">
        <h2 id="sql-history" className="flex items-center gap-1.5 text-sm font-medium text-ink-soft">
          <History aria-hidden className="size-3.5" /> History
        </h2>
        {past.length > 0 && (
          <Button
            look="quiet"
            size="icon"
            className="ml-auto"
            aria-label="Delete the history"
            onClick={() => sqlHistory.set([])}
          >
            <Trash2 aria-hidden className="size-3.5" />
          </Button>
        )}
      </div>
      {past.length === 0 ? (
        <p className="text-sm text-ink-faint">Queries that you run are kept here, in this browser.</p>
      ) : (
        <ul className="divide-y divide-line rounded-lg border border-line bg-surface">
          {past.map((query) => (
            <li key={`${query.at} ${query.connection}`}>
              <button
                type="button"
                onClick={() => onChoose(query)}
                className="block w-full px-3 py-1.5 text-left hover:bg-raised focus-visible:-outline-offset-2"
              >
                <span className="line-clamp-2 font-mono text-xs wrap-anywhere">{query.sql}</span>
                <span className="block text-xs text-ink-faint">
                  {query.connection}, {ago(query.at)},{" "}
                  {query.rows === null ? (
                    <span className="text-bad">failed</span>
                  ) : (
                    `${query.rows.toLocaleString()} ${query.rows === 1 ? "row" : "rows"}, ${duration(query.ms)}`
                  )}
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
